"""What has changed since something was said, so that nobody answers with the old state by mistake."""

from collections.abc import Sequence
from datetime import datetime

from commonplace.domain.times import day
from commonplace.domain.values import Fact


def note_of(taught: Sequence[Fact], *, at: datetime) -> str | None:
    """Return a note on those of a message's facts that no longer hold at a moment; None when all still do."""
    changed = [line for fact in taught if (line := _changed(fact, at=at))]
    return "; ".join(changed) or None


def _changed(fact: Fact, *, at: datetime) -> str | None:
    subject = fact.value or fact.text
    if fact.retracted_at is not None and fact.retracted_at <= at:
        return f"{subject}: taken back, since {day(fact.retracted_at)}"
    if fact.valid_to is not None and fact.valid_to <= at:
        return f"{subject}: no longer, since {day(fact.valid_to)}"
    return None
