"""LangGraph's store on Commonplace: each item is a fact, so `recall`, `context`, export and forget know of it.

The namespace, the key and the value are the fact's metadata; its text is what the value says. A fact that begins at the
moment of its first `put` is another one than a fact with the same words, so two keys may hold the same value.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Literal, cast

import anyio.to_thread

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Fact, Json
from commonplace.integrations.extras import needing
from commonplace.sync import Memory

with needing("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
    )
    from langgraph.store.base.embed import get_text_at_path, tokenize_path

KEY = "langgraph"
KIND = "semantic"
EVERYTHING: dict[str, Any] = {f"{KEY}.key": {"$ne": None}}
Namespace = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """An item as it is kept: the fact, and what its metadata says."""

    fact: Fact
    namespace: Namespace
    key: str
    value: dict[str, Any]
    ttl: float | None
    """Minutes after the last use."""

    @classmethod
    def of(cls, fact: Fact) -> "Held":
        kept = cast(dict[str, Any], fact.metadata[KEY])
        return cls(fact, tuple(kept["namespace"]), kept["key"], kept["value"], kept["ttl"])

    def item(self) -> Item:
        return Item(**self._fields())

    def found(self, score: float | None) -> SearchItem:
        return SearchItem(**self._fields(), score=score)

    def _fields(self) -> dict[str, Any]:
        return {
            "namespace": self.namespace,
            "key": self.key,
            "value": self.value,
            "created_at": self.fact.valid_from or self.fact.recorded_at,
            "updated_at": self.fact.recorded_at,
        }


class MemoryStore(BaseStore):
    """What graphs put away for one user of a memory. It serves `invoke` and `ainvoke`.

    `fields` are the paths of a value that its text is made of, by default every text in it.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        user: str | None = None,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
    ) -> None:
        self._memory, self._user, self._fields = memory, user, tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Read first, then write: of two puts to one key the later one counts."""
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            match op:
                case GetOp():
                    results.append(self._get(op))
                case SearchOp():
                    results.append(self._search(op))
                case ListNamespacesOp():
                    results.append(self._namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await anyio.to_thread.run_sync(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        held = self._held(op.namespace, op.key)
        if held is None:
            return None
        if op.refresh_ttl:
            self._refresh(held)
        return held.item()

    def _held(self, namespace: Sequence[str], key: str) -> Held | None:
        where = {f"{KEY}.namespace": list(namespace), f"{KEY}.key": key}
        page = self._memory.facts(user=self._user, where=where, limit=1)
        return Held.of(page[0]) if page else None

    def _all(self, where: Mapping[str, Any]) -> Iterator[Held]:
        cursor = None
        while True:
            page = self._memory.facts(user=self._user, where=where, limit=1_000, cursor=cursor)
            yield from map(Held.of, page)
            if (cursor := page.next_cursor) is None:
                return

    def _search(self, op: SearchOp) -> list[SearchItem]:
        chosen = list(self._nearest(op, op.query) if op.query else self._latest(op))
        for held, _ in chosen if op.refresh_ttl else []:
            self._refresh(held)
        return [held.found(score) for held, score in chosen]

    def _nearest(self, op: SearchOp, query: str) -> Iterator[tuple[Held, float | None]]:
        """Yield as many as are asked for, as LangGraph has it; the score says how likely it is that one answers."""
        where = {"$and": [_where(op), {f"{KEY}.indexed": True}]}
        last = op.offset + op.limit
        hits = self._memory.recall(query, user=self._user, kinds=KIND, where=where, limit=last, min_relevance=0.0)
        for hit in hits[op.offset :]:
            kept = cast(dict[str, Any], hit.metadata[KEY])
            if (held := self._held(kept["namespace"], kept["key"])) is not None:
                yield held, hit.relevance

    def _latest(self, op: SearchOp) -> Iterator[tuple[Held, float | None]]:
        for held in islice(self._all(_where(op)), op.offset, op.offset + op.limit):
            yield held, None

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {held.namespace for held in self._all(EVERYTHING)}
        kept = {one[: op.max_depth] for one in found if all(_matches(condition, one) for condition in conditions)}
        return sorted(kept)[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        held = self._held(op.namespace, op.key)
        if op.value is None:
            if held is not None:
                self._memory.forget(fact=held.fact.id, user=self._user)
            return
        value = cast(dict[str, Json], json.loads(json.dumps(op.value)))
        kept: dict[str, Json] = {
            "namespace": list(op.namespace),
            "within": [".".join(op.namespace[:depth]) for depth in range(1, len(op.namespace) + 1)],
            "key": op.key,
            "value": value,
            "ttl": op.ttl,
            "indexed": op.index is not False,
        }
        text = _text(op, self._fields)
        if held is not None and held.fact.text != text:
            self._memory.revise(held.fact.id, text, user=self._user)
        self._write(text, kept, begun=_begun(held), ttl=op.ttl)

    def _write(self, text: str, kept: dict[str, Json], *, begun: datetime | None, ttl: float | None) -> None:
        now = datetime.now(UTC)
        self._memory.remember(
            text,
            user=self._user,
            kind=KIND,
            valid_from=begun or now,
            expires_at=None if ttl is None else _expiry(now, ttl),
            metadata={KEY: kept},
        )

    def _refresh(self, held: Held) -> None:
        """Reading an item with a TTL gives it another whole one."""
        if held.ttl is not None:
            kept = cast(dict[str, Json], held.fact.metadata[KEY])
            self._write(held.fact.text, kept, begun=held.fact.valid_from, ttl=held.ttl)


def _expiry(now: datetime, ttl: float) -> datetime:
    try:
        return now + timedelta(minutes=ttl)
    except OverflowError as error:
        raise InvalidInput(f"ttl={ttl!r}: expected minutes, and not more than the calendar has") from error


def _begun(held: Held | None) -> datetime | None:
    return held.fact.valid_from if held is not None else None


def _where(op: SearchOp) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [EVERYTHING]
    if op.namespace_prefix:
        parts.append({f"{KEY}.within": {"$contains": ".".join(op.namespace_prefix)}})
    parts += [{KEY: {"value": {name: condition}}} for name, condition in (op.filter or {}).items()]
    return {"$and": parts}


def _text(op: PutOp, fields: Sequence[str]) -> str:
    """Return what a value says: its texts at the paths, or all of it."""
    paths = op.index or fields
    found = [
        text
        for path in paths
        for text in (_texts(op.value) if path == "$" else get_text_at_path(op.value, tokenize_path(path)))
    ]
    said = "\n".join(text for text in found if text.strip())
    return said if said and op.index is not False else f"{op.key}: {json.dumps(op.value)}"


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for part in value.values():
                yield from _texts(part)
        case list() | tuple():
            for part in value:
                yield from _texts(part)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    kind: Literal["prefix", "suffix"] = condition.match_type
    part = namespace[: len(path)] if kind == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
