"""The learning path on a list of facts: reconcile, commit, apply. It checks what a ledger promises to refuse."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

from commonplace.domain.claims import Claim, Decision, Standing
from commonplace.domain.values import Fact, FactChange, FactId, Message, MessageId, Source
from commonplace.learning.commit import commit
from commonplace.learning.draft import Draft
from commonplace.learning.meets import Alike
from commonplace.learning.reconcile import needs, reconcile, to_hear
from commonplace.learning.timeline import Heard

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return NEW_YEAR + timedelta(days=number)


def a_claim(value: str, attribute: str = "home", standing: Standing = "holds", **fields: object) -> Claim:
    text = f"User {attribute} {value}".strip() if standing in ("holds", "corrects") else f"User not {attribute} {value}"
    return replace(
        Claim(text=text, attribute=attribute, value=value, standing=standing, start=0, stop=4),
        **fields,  # type: ignore[arg-type]
    )


class Simulator:
    """What a user is known by. Knowledge time is the number of messages told, in seconds of 2030."""

    def __init__(self) -> None:
        self.versions: list[Fact] = []
        self.sources: list[Source] = []
        self.history: list[FactChange] = []
        self.messages: dict[MessageId, Message] = {}
        self._ids, self._clock = count(1), count(1)

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=next(self._clock))

    @property
    def believed(self) -> list[Fact]:
        return [fact for fact in self.versions if fact.retracted_at is None]

    def latest(self) -> dict[FactId, Fact]:
        return {fact.id: fact for fact in self.versions}

    def valid_at(self, moment: datetime) -> list[Fact]:
        return [fact for fact in self.believed if holds_at(fact, moment)]

    def as_of(self, moment: datetime) -> list[Fact]:
        known = [fact for fact in self.versions if fact.recorded_at <= moment]
        return [fact for fact in known if fact.retracted_at is None or moment < fact.retracted_at]

    def tell(self, said_at: datetime, *claims: Claim, alike: Alike | None = None, text: str = "I do") -> list[Decision]:
        now = self.now()
        message = Message(
            id=MessageId(f"m{len(self.messages) + 1}"), role="user", text=text, at=said_at, recorded_at=now
        )
        return self.learn(message, claims, alike=alike)

    def learn(self, message: Message, claims: Sequence[Claim], *, alike: Alike | None = None) -> list[Decision]:
        decisions, draft = self.drafted(message, claims, alike=alike)
        self.apply(draft)
        return decisions

    def drafted(
        self, message: Message, claims: Sequence[Claim], *, alike: Alike | None = None
    ) -> tuple[list[Decision], Draft]:
        self.messages[message.id] = message
        pairs = set(needs(claims))
        known = [fact for fact in self.believed if (fact.subject, fact.attribute) in pairs]
        heard = {one: self._heard(one) for one in to_hear(claims, known, message=message)}
        decisions = reconcile(claims, known, said_at=message.at, alike=alike, heard=heard)
        draft = commit(
            decisions,
            known,
            message=message,
            now=message.recorded_at,
            new_id=lambda: f"f{next(self._ids)}",
            extractor="simulator/1",
            heard=heard,
        )
        return decisions, draft

    def apply(self, draft: Draft) -> None:
        for closed in draft.closed:
            at = self._open(closed.fact, closed.version)
            self.versions[at] = replace(
                self.versions[at],
                retracted_at=closed.retracted_at,
                replaced_by=closed.replaced_by or self.versions[at].replaced_by,
            )
        for fact in draft.facts:
            assert fact.id not in {other.id for other in self.believed}, f"two open versions of {fact}"
            assert fact.version == 1 + max((old.version for old in self.versions if old.id == fact.id), default=0)
            self.versions.append(fact)
        for again in draft.reinforced:
            at = self._open(again.fact, again.version)
            self.versions[at] = replace(self.versions[at], confidence=again.confidence)
        self.history += draft.history
        for source in draft.sources:
            assert source.message in self.messages
            self.sources.append(source)
        self._refresh_sources({source.fact for source in draft.sources})
        self._check()

    def _open(self, fact: FactId, version: int) -> int:
        (at,) = [n for n, old in enumerate(self.versions) if (old.id, old.version) == (fact, version)]
        assert self.versions[at].retracted_at is None, f"{fact} version {version} is closed already"
        return at

    def _heard(self, fact: FactId) -> list[Heard]:
        return [Heard(source, self.messages[source.message].at) for source in self.sources if source.fact == fact]

    def _refresh_sources(self, facts: Iterable[FactId]) -> None:
        for number, version in enumerate(self.versions):
            if version.id in facts:
                said = [source.message for source in self.sources if (source.fact, source.role) == (version.id, "said")]
                self.versions[number] = replace(version, sources=tuple(dict.fromkeys(said)))

    def _check(self) -> None:
        for fact in self.believed:
            assert fact.sources, f"no source: {fact}"
            assert fact.valid_from is None or fact.valid_to is None or fact.valid_from < fact.valid_to, fact


def holds_at(fact: Fact, moment: datetime) -> bool:
    return (fact.valid_from is None or fact.valid_from <= moment) and (fact.valid_to is None or moment < fact.valid_to)


def timeline(facts: Iterable[Fact], attribute: str) -> list[tuple[str, datetime | None, datetime | None]]:
    """Return the values of an attribute with when they held, in the order of time."""
    own = [fact for fact in facts if fact.attribute == attribute]
    own.sort(key=lambda fact: fact.valid_from or datetime.min.replace(tzinfo=UTC))
    return [(fact.value, fact.valid_from, fact.valid_to) for fact in own]
