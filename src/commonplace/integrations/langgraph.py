"""LangGraph's store on Commonplace: each item is a fact, so `recall`, `context`, export and forget know of it.

The namespace, the key and the value are the fact's metadata; its text is what the value says.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Literal, cast

import anyio.to_thread
import numpy as np

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Fact, Json
from commonplace.integrations.extras import needing
from commonplace.integrations.shelf import Shelf
from commonplace.sync import Memory

with needing("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
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
    from langgraph.store.base.embed import ensure_embeddings, get_text_at_path, tokenize_path

KEY = "langgraph"
EVERYTHING: dict[str, Any] = {f"{KEY}.key": {"$ne": None}}
Namespace = tuple[str, ...]
PROBE = "The ferry to the island leaves at seven."
ALIKE = 0.98
"""Cosine from which two vectors of one text are of one model. Ours, in eight bits, is at 0.99 of the same in full."""


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

    Of LangGraph's `index`, `fields` are the paths of a value that its text is made of, by default every text in it.
    The memory embeds: `dims` and `embed` may be given, and are refused when they are of another model.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        user: str | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        given = index or IndexConfig()
        _refuse_another_model(memory, user, given)
        self._shelf, self._fields = Shelf(memory, user), tuple(given.get("fields") or ["$"])
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
        fact = self._shelf.first({f"{KEY}.namespace": list(namespace), f"{KEY}.key": key})
        return None if fact is None else Held.of(fact)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        chosen = list(self._nearest(op, op.query) if op.query else self._latest(op))
        for held, _ in chosen if op.refresh_ttl else []:
            self._refresh(held)
        return [held.found(score) for held, score in chosen]

    def _nearest(self, op: SearchOp, query: str) -> Iterator[tuple[Held, float | None]]:
        """Yield as many as are asked for, as LangGraph has it; the score says how likely it is that one answers."""
        where = {"$and": [_where(op), {f"{KEY}.indexed": True}]}
        for hit in self._shelf.nearest(query, where, op.offset + op.limit)[op.offset :]:
            kept = cast(dict[str, Any], hit.metadata[KEY])
            if (held := self._held(kept["namespace"], kept["key"])) is not None:
                yield held, hit.relevance

    def _latest(self, op: SearchOp) -> Iterator[tuple[Held, float | None]]:
        for fact in islice(self._shelf.all(_where(op)), op.offset, op.offset + op.limit):
            yield Held.of(fact), None

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {held.namespace for held in map(Held.of, self._shelf.all(EVERYTHING))}
        kept = {one[: op.max_depth] for one in found if all(_matches(condition, one) for condition in conditions)}
        return sorted(kept)[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        held = self._held(op.namespace, op.key)
        if op.value is None:
            if held is not None:
                self._shelf.remove(held.fact)
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
        over = None if held is None else held.fact
        self._shelf.put(_text(op, self._fields), {KEY: kept}, over=over, expires_at=_expiry(op.ttl))

    def _refresh(self, held: Held) -> None:
        """Reading an item with a TTL gives it another whole one."""
        if held.ttl is not None:
            self._shelf.put(held.fact.text, held.fact.metadata, over=held.fact, expires_at=_expiry(held.ttl))


def _refuse_another_model(memory: Memory, user: str | None, index: IndexConfig) -> None:
    """Vectors of two models cannot be compared, and a user's memories are searched together."""
    if not index.keys() & {"dims", "embed"}:
        return
    ours = np.asarray(memory.embed([PROBE], user=user)[0])
    if (dims := index.get("dims", ours.size)) != ours.size:
        raise InvalidInput(
            f"index['dims']={dims}: the memory's model has {ours.size}; expected that, or Memory.open(…, embedder=…)"
        )
    if "embed" in index:
        # the function may be a coroutine's, and this thread may have a loop that is running
        with ThreadPoolExecutor(1) as thread:
            asked = ensure_embeddings(index["embed"]).aembed_documents([PROBE])
            theirs = np.asarray(thread.submit(asyncio.run, asked).result()[0])
        if theirs.shape != ours.shape or theirs @ ours < ALIKE * np.linalg.norm(theirs) * np.linalg.norm(ours):
            raise InvalidInput(
                "index['embed']: not the memory's model; expected Memory.open(…, embedder=…) with this one"
            )


def _expiry(ttl: float | None) -> datetime | None:
    try:
        return None if ttl is None else datetime.now(UTC) + timedelta(minutes=ttl)
    except OverflowError as error:
        raise InvalidInput(f"ttl={ttl!r}: expected minutes, and not more than the calendar has") from error


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
