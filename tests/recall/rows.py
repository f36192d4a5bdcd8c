"""Rows as a ledger would feed them, made from a few words."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from commonplace.domain.times import to_micros
from commonplace.ports.ledger import FactRow, Feed, MessageRow, Versions
from commonplace.recall.corpus import Corpus, Filters, Mask
from commonplace.recall.features import features
from commonplace.recall.packed import analyse_row, pack
from commonplace.recall.passages import passages

DAY_ONE = datetime(2024, 3, 4, 9, tzinfo=UTC)
NOW = to_micros(DAY_ONE + timedelta(days=400))
DIMENSIONS = 4


def moment(minutes: float = 0) -> datetime:
    return DAY_ONE + timedelta(minutes=minutes)


def a_message(  # noqa: PLR0913 - each test names the one or two that it is about
    n: int,
    text: str,
    *,
    session: str | None = "s",
    name: str | None = None,
    role: str = "user",
    minutes: float | None = None,
    first: int | None = None,
    tokens: bytes | None = None,
    vector: Sequence[float] | None = None,
) -> MessageRow:
    at = moment(n if minutes is None else minutes)
    return MessageRow(
        n=n,
        first=first or n,
        id=f"m{first or n}",
        session=session,
        role=role,
        name=name,
        agent=None,
        at=to_micros(at),
        expires_at=None,
        metadata=None,
        start=0,
        stop=len(text),
        terms=pack(analyse_row(text, speaker=name, at=at)),
        vector=None if vector is None else np.array(vector, np.float32).tobytes(),
        tokens=tokens,
    )


def passages_of(n: int, text: str) -> list[MessageRow]:
    words = features(text).words
    rows = [a_message(n + i, text[a:b], first=n, minutes=n) for i, (a, b) in enumerate(passages(text))]
    return [
        row._replace(terms=pack(analyse_row(text[a:b], whole=words)))
        for row, (a, b) in zip(rows, passages(text), strict=True)
    ]


def a_fact(
    n: int,
    text: str,
    *,
    kind: str = "fact",
    valid_from: int | None = None,
    valid_to: int | None = None,
    retracted_at: int | None = None,
) -> FactRow:
    return FactRow(
        n=n,
        id=f"f{n}",
        version=1,
        kind=kind,
        confidence=1.0,
        importance=0.5,
        said_at=to_micros(DAY_ONE),
        valid_from=valid_from,
        valid_to=valid_to,
        recorded_at=to_micros(DAY_ONE),
        retracted_at=retracted_at,
        expires_at=None,
        metadata=None,
        sessions=None,
        terms=pack(analyse_row(text)),
        vector=None,
    )


def a_feed(*rows: MessageRow | FactRow, removed: Sequence[int] = (), version: int = 1) -> Feed:
    messages = [row for row in rows if isinstance(row, MessageRow)]
    facts = [row for row in rows if isinstance(row, FactRow)]
    return Feed(Versions(1, version, 0, len(rows)), messages, facts, removed)


def a_corpus(*rows: MessageRow | FactRow) -> Corpus:
    corpus = Corpus(dimensions=DIMENSIONS)
    corpus.apply(a_feed(*rows))
    return corpus


def everything(corpus: Corpus) -> Mask:
    return corpus.mask(Filters(now=NOW))
