"""One partition in memory: its rows as columns, with what the two arms need of them.

A row has a slot: its place in the columns. Fed again, it gets a new slot and the old one is dead.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.domain.times import FOREVER
from commonplace.ports.ledger import FactRow, Feed, MessageRow
from commonplace.recall.columns import Columns
from commonplace.recall.dense import Dense
from commonplace.recall.late import Tokens
from commonplace.recall.lexical import Lexical
from commonplace.recall.packed import unpack
from commonplace.recall.terms import analyse
from commonplace.recall.threads import NO_SESSION, Threads
from commonplace.recall.weights import Weights

Mask = NDArray[np.bool_]
KINDS = ("message", "fact", "preference", "semantic", "context", "summary")
ROLES = ("user", "assistant", "system", "tool")
MESSAGE = 0
NOBODY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be found. Moments are microseconds since 1970; an interval is `start <= t < stop`."""

    now: int
    kinds: frozenset[str] | None = None
    sessions: frozenset[str] | None = None
    during: tuple[int | None, int | None] | None = None
    valid_at: int | None = None
    as_of: int | None = None
    where: Callable[[str | None], bool] | None = None
    """A predicate on the metadata's JSON."""
    agent: str | None = None


class Corpus:
    def __init__(
        self, *, dimensions: int, vectors: bool = True, language: str = "en", weights: Weights | None = None
    ) -> None:
        """Without `vectors` the dense arm has to be answered from outside."""
        self.language = language
        self.weights = weights or Weights()
        self.version = 0
        self.threads = Threads()
        self.lexical = Lexical(self.threads, self.weights)
        self.dense = Dense(dimensions) if vectors else None
        self.tokens = Tokens()
        self.ids: list[str] = []
        self.metadata: list[str | None] = []
        self.rows = Columns()
        self.slot_of: dict[int, int] = {}
        self.others = 0
        """Rows that the user has beside these, where this is a part of them."""
        self.generation = 0
        """Of the vectors."""
        self.model: str | None = None
        """Whose vectors they are, if the user has a model of their own."""
        self.names: dict[int, frozenset[int]] = {}
        """From a term of a speaker's name to the speakers who bear it."""
        self._sessions: dict[str, int] = {}
        self._speakers: dict[str, int] = {}
        self._spoken: Counter[int] = Counter()
        self._agents: dict[str, int] = {}
        self._fact_sessions: dict[int, frozenset[int]] = {}

    def __len__(self) -> int:
        return len(self.slot_of)

    @property
    def sessions(self) -> int:
        """How many sessions have a code."""
        return len(self._sessions)

    @property
    def nbytes(self) -> int:
        held = self.rows.nbytes + self.lexical.nbytes + self.threads.nbytes + 150 * len(self.ids)
        return held + self.tokens.nbytes + (self.dense.nbytes if self.dense else 0)

    def apply(self, feed: Feed) -> None:
        """Take in what changed. Applying the same feed again changes nothing that a search would notice."""
        gone = [n for n in feed.removed if n in self.slot_of]
        fed = [*(row.n for row in feed.messages), *(row.n for row in feed.facts)]
        touched = self._drop([*gone, *(n for n in fed if n in self.slot_of)])
        if feed.messages:
            touched = np.append(touched, self._take_messages(feed.messages))
        if feed.facts:
            touched = np.append(touched, self._take_facts(feed.facts))
        self.lexical.changed(touched[self.rows.live.cells[touched]])
        self.version = max(self.version, feed.versions.version)

    def mask(self, filters: Filters) -> Mask:
        """Return which slots may be found."""
        at, message = self.rows.at.cells, self.rows.kind.cells == MESSAGE
        known = filters.now if filters.as_of is None else filters.as_of
        valid = filters.now if filters.valid_at is None else filters.valid_at
        kept = self.rows.live.cells & (self.rows.expires_at.cells > filters.now)
        believed = (self.rows.recorded_at.cells <= known) & (known < self.rows.retracted_at.cells)
        holds = (self.rows.valid_from.cells <= valid) & (valid < self.rows.valid_to.cells)
        kept &= message | (believed & holds)
        if filters.as_of is not None:
            kept &= ~message | (at <= filters.as_of)
        if filters.kinds is not None:
            codes = [code for code, kind in enumerate(KINDS) if kind in filters.kinds]
            kept &= np.isin(self.rows.kind.cells, codes)
        if filters.during is not None:
            start, stop = filters.during
            kept &= (at >= (-FOREVER if start is None else start)) & (at < (FOREVER if stop is None else stop))
        if filters.agent is not None:
            kept &= ~message | (self.rows.agent.cells == self._agents.get(filters.agent, NOBODY - 1))
        if filters.sessions is not None:
            kept &= self._in_sessions(filters.sessions)
        return kept if filters.where is None else self._where(kept, filters.where)

    def _in_sessions(self, sessions: frozenset[str]) -> Mask:
        codes = frozenset(self._sessions[session] for session in sessions if session in self._sessions)
        kept: Mask = np.isin(self.rows.session.cells, list(codes)) & (self.rows.kind.cells == MESSAGE)
        kept[[slot for slot, held in self._fact_sessions.items() if held & codes]] = True
        return kept

    def _where(self, kept: Mask, where: Callable[[str | None], bool]) -> Mask:
        slots = np.flatnonzero(kept)
        kept[slots] = [where(self.metadata[slot]) for slot in slots]
        return kept

    def _drop(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        slots = np.array([self.slot_of.pop(n) for n in numbers], np.int64)
        touched = self.threads.around(slots)
        for slot in slots[self.rows.kind.cells[slots] == MESSAGE].tolist():
            self.threads.remove(int(self.rows.session.cells[slot]), self._place(slot))
        self._unname(self.rows.speaker.cells[slots].tolist())
        for slot in slots.tolist():
            self.metadata[slot] = None
            self._fact_sessions.pop(slot, None)
        self.rows.live.cells[slots] = False
        self.lexical.remove(slots)
        return touched

    def _place(self, slot: int) -> tuple[tuple[int, int, int], int]:
        key = (int(self.rows.at.cells[slot]), int(self.rows.first.cells[slot]), int(self.rows.number.cells[slot]))
        return key, slot

    def _take_messages(self, rows: Sequence[MessageRow]) -> NDArray[np.int64]:
        slots = self._take_shared(rows)
        self.ids.extend(row.id for row in rows)
        self.metadata.extend(row.metadata for row in rows)
        sessions = [NO_SESSION if row.session is None else _code(self._sessions, row.session) for row in rows]
        self.rows.first.append(_ints([row.first for row in rows]))
        self.rows.session.append(_ints(sessions))
        self.rows.speaker.append(_ints([self._speaker(row.name) for row in rows]))
        self.rows.agent.append(_ints([NOBODY if row.agent is None else _code(self._agents, row.agent) for row in rows]))
        self.rows.at.append(_ints([row.at for row in rows]))
        self.rows.expires_at.append(_ints([_or(row.expires_at, FOREVER) for row in rows]))
        self.rows.role.append(np.array([ROLES.index(row.role) for row in rows], np.int8))
        self.rows.kind.append(np.zeros(len(rows), np.int8))
        self._take_defaults(len(rows))
        threads: dict[int, list[tuple[tuple[int, int, int], int]]] = {}
        for slot, session in zip(slots.tolist(), sessions, strict=True):
            threads.setdefault(session, []).append(self._place(slot))
        for session, places in threads.items():
            self.threads.insert(session, places)
        return self.threads.around(slots)

    def _take_defaults(self, count: int) -> None:
        """Fill the columns that only facts have."""
        self.rows.version.append(np.zeros(count, np.int64))
        for column, value in (
            (self.rows.valid_from, -FOREVER),
            (self.rows.valid_to, FOREVER),
            (self.rows.recorded_at, -FOREVER),
            (self.rows.retracted_at, FOREVER),
        ):
            column.append(np.full(count, value, np.int64))
        self.rows.importance.append(np.full(count, 0.5, np.float32))
        self.rows.confidence.append(np.ones(count, np.float32))

    def _take_facts(self, rows: Sequence[FactRow]) -> NDArray[np.int64]:
        slots = self._take_shared(rows)
        self.ids.extend(row.id for row in rows)
        self.metadata.extend(row.metadata for row in rows)
        for slot, row in zip(slots.tolist(), rows, strict=True):
            if row.sessions is not None:
                self._fact_sessions[slot] = frozenset(_code(self._sessions, held) for held in json.loads(row.sessions))
        self.rows.first.append(_ints([row.n for row in rows]))
        nobody = np.full(len(rows), NOBODY, np.int64)
        for column in (self.rows.session, self.rows.speaker, self.rows.agent):
            column.append(nobody)
        self.rows.at.append(_ints([row.said_at for row in rows]))
        self.rows.role.append(np.full(len(rows), NOBODY, np.int8))
        self.rows.kind.append(np.array([KINDS.index(row.kind) for row in rows], np.int8))
        self.rows.version.append(_ints([row.version for row in rows]))
        self.rows.valid_from.append(_ints([_or(row.valid_from, -FOREVER) for row in rows]))
        self.rows.valid_to.append(_ints([_or(row.valid_to, FOREVER) for row in rows]))
        self.rows.recorded_at.append(_ints([row.recorded_at for row in rows]))
        self.rows.retracted_at.append(_ints([_or(row.retracted_at, FOREVER) for row in rows]))
        self.rows.expires_at.append(_ints([_or(row.expires_at, FOREVER) for row in rows]))
        self.rows.importance.append(np.array([row.importance for row in rows], np.float32))
        self.rows.confidence.append(np.array([row.confidence for row in rows], np.float32))
        return slots

    def _take_shared(self, fed: Sequence[MessageRow] | Sequence[FactRow]) -> NDArray[np.int64]:
        numbers, rows = [row.n for row in fed], unpack([row.terms for row in fed])
        slots = np.arange(len(self.ids), len(self.ids) + len(numbers))
        self.rows.number.append(_ints(numbers))
        self.slot_of.update(zip(numbers, slots.tolist(), strict=True))
        self.rows.words.append(rows.words)
        self.rows.whole.append(rows.whole)
        self.rows.has.append(rows.has)
        self.rows.first_person.append(rows.first_person)
        self.rows.second_person.append(rows.second_person)
        self.rows.live.append(np.ones(len(numbers), np.bool_))
        self.threads.grow(len(numbers))
        self.lexical.append(rows)
        if self.dense is not None:
            self.dense.append([row.vector for row in fed])
        self.tokens.append([row.tokens for row in fed])
        return slots

    def _speaker(self, name: str | None) -> int:
        if name is None:
            return NOBODY
        code = _code(self._speakers, name)
        if not self._spoken[code]:
            for term in analyse(name, language=self.language):
                self.names[term] = self.names.get(term, frozenset()) | {code}
        self._spoken[code] += 1
        return code

    def _unname(self, speakers: Sequence[int]) -> None:
        """Forget the names of those of whom nothing is left."""
        self._spoken.subtract(code for code in speakers if code != NOBODY)
        silent = {code for code in speakers if code != NOBODY and not self._spoken[code]}
        if silent:
            left = {term: codes - silent for term, codes in self.names.items()}
            self.names = {term: codes for term, codes in left.items() if codes}


def _code(codes: dict[str, int], key: str) -> int:
    return codes.setdefault(key, len(codes))


def _or(value: int | None, other: int) -> int:
    return other if value is None else value


def _ints(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)
