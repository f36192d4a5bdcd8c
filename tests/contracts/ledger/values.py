"""Short ways to say what is written."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import strategies as st

from commonplace.domain.scope import Scope
from commonplace.domain.values import (
    ChangeKind,
    Fact,
    FactChange,
    FactId,
    FactKind,
    Json,
    Message,
    MessageId,
    Metadata,
    SessionId,
    Source,
)
from commonplace.ports.ledger import (
    Change,
    ClosedVersion,
    Entry,
    FactRow,
    Feed,
    MessageRow,
    NewMessage,
    NewVersion,
    Vector,
)

ANA, BEN, NOBODY = Scope("acme", "ana"), Scope("acme", "ben"), Scope("acme", None)
OTHER_ANA = Scope("other", "ana")
START = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
DAY = 86_400.0

any_text = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\0\ud800\udfff'\"/\\%")))
"""Every str that Python can hold, lone surrogates and NUL included."""

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


def later(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_vector(seed: int) -> Vector:
    vector = np.random.default_rng(seed).standard_normal(8, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def an_entry(seed: int = 0, *, start: int = 0, stop: int = 5, vector: bool = True) -> Entry:
    return Entry(start=start, stop=stop, terms=b"terms %d" % seed, vector=a_vector(seed) if vector else None)


def a_message(
    id_: str = "m1",
    text: str = "I use Shram",
    *,
    at: float = 0,
    session: str | None = "s1",
    metadata: Metadata | None = None,
) -> Message:
    return Message(
        id=MessageId(id_),
        role="user",
        text=text,
        at=later(at),
        recorded_at=later(at),
        session=None if session is None else SessionId(session),
        metadata=metadata or {},
    )


def new_message(
    id_: str = "m1",
    text: str = "I use Shram",
    *,
    at: float = 0,
    session: str | None = "s1",
    metadata: Metadata | None = None,
    passages: int = 1,
    vector: bool = True,
) -> NewMessage:
    return NewMessage(
        message=a_message(id_, text, at=at, session=session, metadata=metadata),
        entries=tuple(an_entry(n, start=n * 5, stop=n * 5 + 5, vector=vector) for n in range(passages)),
    )


def added(*ids: str, session: str | None = "s1", at: float = 0) -> Change:
    return Change(messages=[new_message(id_, session=session, at=at) for id_ in ids])


def a_fact(
    id_: str = "f1",
    text: str = "uses Shram",
    *,
    version: int = 1,
    at: float = 0,
    kind: FactKind = "fact",
    attribute: str = "uses",
    retracted_at: datetime | None = None,
    metadata: Metadata | None = None,
) -> Fact:
    return Fact(
        id=FactId(id_),
        text=text,
        kind=kind,
        said_at=later(at),
        recorded_at=later(at),
        retracted_at=retracted_at,
        version=version,
        attribute=attribute,
        metadata=metadata or {},
    )


def new_version(fact: Fact, *, seed: int = 0, vector: bool = True) -> NewVersion:
    return NewVersion(fact=fact, entry=an_entry(seed, vector=vector))


def closed(id_: str = "f1", version: int = 1, *, at: float = 60, replaced_by: str | None = None) -> ClosedVersion:
    return ClosedVersion(
        fact=FactId(id_),
        version=version,
        retracted_at=later(at),
        replaced_by=None if replaced_by is None else FactId(replaced_by),
    )


def said(fact: str = "f1", message: str = "m1", *, start: int = 0, stop: int = 11) -> Source:
    return Source(fact=FactId(fact), message=MessageId(message), start=start, stop=stop)


def ended(fact: str = "f1", message: str = "m2") -> Source:
    return Source(fact=FactId(fact), message=MessageId(message), start=0, stop=1, role="ended")


def happened(
    change: ChangeKind,
    fact: str = "f1",
    version: int = 1,
    *,
    at: float = 0,
    message: str | None = None,
    reason: str = "",
) -> FactChange:
    return FactChange(
        fact=FactId(fact),
        version=version,
        change=change,
        at=later(at),
        reason=reason,
        message=None if message is None else MessageId(message),
    )


def learned(fact: str = "f1", message: str = "m1", text: str = "uses Shram") -> Change:
    """Return a message with a fact that was read out of it."""
    return Change(
        messages=[new_message(message)],
        versions=[new_version(a_fact(fact, text))],
        sources=[said(fact, message)],
        history=[happened("learned", fact, message=message)],
    )


@dataclass
class Cache:
    """What an index knows, from nothing but feeds."""

    version: int = 0
    messages: dict[int, MessageRow] = field(default_factory=dict)
    facts: dict[int, FactRow] = field(default_factory=dict)

    def take(self, feed: Feed) -> None:
        for n in feed.removed:
            self.messages.pop(n, None)
            self.facts.pop(n, None)
        self.messages |= {row.n: row for row in feed.messages}
        self.facts |= {row.n: row for row in feed.facts}
        self.version = feed.versions.version
