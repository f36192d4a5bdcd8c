"""Where a statement belongs on the time line of a thing that can only be one way at a time.

Messages may arrive in any order. A fact that was said again later holds its ground from that moment on, so the
same messages make the same time line whichever came first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from commonplace.domain.values import Fact, FactId, Source

ALWAYS = datetime.min.replace(tzinfo=UTC)
NEVER = datetime.max.replace(tzinfo=UTC)


class Heard(NamedTuple):
    """One time a fact was said, or said to be over."""

    source: Source
    at: datetime


Hearings = Mapping[FactId, Sequence[Heard]]
"""When each fact was said; a fact that is not in it was said once, at its `said_at`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of world time, `start <= t < stop`; None is open."""

    start: datetime | None
    stop: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a statement goes, and what stands there."""

    since: datetime
    """When it begins to count: the start that was told, or the moment it was said."""
    stop: datetime | None
    open_start: bool = False
    holder: Fact | None = None
    """Says the same and holds at that time already."""
    follower: Fact | None = None
    """Says the same and begins at `stop`: it has to begin earlier."""
    later: tuple[Fact, ...] = ()
    """What is known to be so at some time after, in the order of time."""
    overruled_by: Fact | None = None
    """Was said later and leaves no room."""
    displaced: tuple[Fact, ...] = ()
    """Cannot have been so at that time."""


def begin(fact: Fact) -> datetime:
    return fact.valid_from or ALWAYS


def finish(fact: Fact) -> datetime:
    return fact.valid_to or NEVER


def moments(fact: Fact, heard: Hearings) -> list[datetime]:
    """Return when the fact was said, in order; never empty."""
    return sorted(hearing.at for hearing in heard.get(fact.id, ()) if hearing.source.role == "said") or [fact.said_at]


def place(told: Span, *, said_at: datetime, same: Sequence[Fact], rivals: Sequence[Fact], heard: Hearings) -> Place:
    """Return where a statement goes among facts that say the same and facts that exclude it."""
    since = _since(told, said_at, same, rivals, heard)
    returns = [
        (moment, number, fact)
        for number, fact in enumerate([*same, *rivals])
        if (moment := _returns(fact, since, said_at, heard)) is not None
    ]
    next_at, _, following = min(returns, default=(None, 0, None))
    stops = [moment for moment in (next_at, told.stop, _denied_later(same, since, said_at, heard)) if moment]
    stop = min(stops, default=None)
    if stop is not None and stop <= since:
        return Place(since=since, stop=stop, overruled_by=following)
    earlier = any(_was_before(fact, since, said_at, heard) for fact in (*same, *rivals))
    open_start = told.start is None and not earlier
    return Place(
        since=since,
        open_start=open_start,
        stop=stop,
        holder=next((fact for fact in same if begin(fact) <= since < finish(fact)), None),
        follower=following if following in same and stop == next_at else None,
        later=tuple(fact for _, _, fact in sorted(returns)),
        displaced=tuple(fact for fact in rivals if _overlaps(fact, ALWAYS if open_start else since, stop or NEVER)),
    )


def remains(fact: Fact, gap: Span, heard: Hearings, *, resumes: bool) -> tuple[Span | None, Span | None]:
    """Return what is left of a fact before and after a stretch in which it did not hold.

    An open start is only a guess: a fact that nobody spoke of before the gap begins after it. After the gap it holds
    from the moment it was said again, or at once if it `resumes`: because the end of the gap was told.
    """
    start, stop = gap.start or ALWAYS, gap.stop or NEVER
    said = moments(fact, heard)
    again = next((moment for moment in said if stop <= moment < finish(fact)), stop if resumes else None)
    goes_on = again is not None and stop < finish(fact)
    after = Span(start=stop if resumes else again, stop=fact.valid_to) if goes_on else None
    told_before = fact.valid_from is not None or said[0] < start
    if begin(fact) >= start or (after and not told_before):
        return None, after
    return Span(start=fact.valid_from, stop=min(start, finish(fact))), after


def _since(told: Span, said_at: datetime, same: Sequence[Fact], rivals: Sequence[Fact], heard: Hearings) -> datetime:
    """Return the start that was told, unless it denies the whole of another fact: then, when it was said.

    "I moved to Berlin in 2024" must not wipe out "I live in Rome" of March 2024.
    """
    past = told.stop is not None and told.stop <= said_at
    if told.start is None:
        return _last_before(told.stop, rivals, heard) if told.stop and past else said_at
    if past:
        return told.start
    for fact in rivals:
        if fact.valid_from and told.start <= fact.valid_from <= said_at and moments(fact, heard)[0] <= said_at:
            return said_at
    ended = [fact.valid_to for fact in same if fact.valid_to and begin(fact) <= told.start < fact.valid_to <= said_at]
    return max([told.start, *ended])


def _last_before(stop: datetime, rivals: Sequence[Fact], heard: Hearings) -> datetime:
    """Return when the last of the rivals before `stop` began, as far as is known: "until 2018" reaches back to it."""
    starts = [fact.valid_from or moments(fact, heard)[0] for fact in rivals]
    return max((start for start in starts if start < stop), default=ALWAYS)


def _returns(fact: Fact, since: datetime, said_at: datetime, heard: Hearings) -> datetime | None:
    """Return when a fact comes after a statement: at its own start, or where it was said again later."""
    if fact.valid_from is not None and fact.valid_from > since:
        return fact.valid_from
    said = moments(fact, heard)
    later = [moment for moment in said if said_at < moment < finish(fact)]
    if not later:
        return None
    if fact.valid_from is not None and said[0] > said_at:
        return fact.valid_from
    return later[0]


def _denied_later(same: Sequence[Fact], since: datetime, said_at: datetime, heard: Hearings) -> datetime | None:
    """Return when a back-dated statement was next said to be over, by words that ended it or found it ended."""
    every = [hearing for fact in same for hearing in heard.get(fact.id, ()) if hearing.source.role == "ended"]
    return min((hearing.at for hearing in every if hearing.at > max(since, said_at)), default=None)


def _was_before(fact: Fact, since: datetime, said_at: datetime, heard: Hearings) -> bool:
    if fact.valid_from is not None:
        return fact.valid_from < since
    return finish(fact) <= since or moments(fact, heard)[0] <= said_at


def _overlaps(fact: Fact, start: datetime, stop: datetime) -> bool:
    return begin(fact) < stop and start < finish(fact)
