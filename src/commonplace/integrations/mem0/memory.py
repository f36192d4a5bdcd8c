"""mem0's AsyncMemory. It opens the memory at the first call, because mem0's is made without `await`."""

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from os import PathLike
from typing import Any, Self, cast

from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.inputs import parse_count, parse_metadata, parse_share, parse_text
from commonplace.domain.values import FactVersion, Json
from commonplace.engine.engine import Content
from commonplace.integrations.mem0.scoping import IDENTITY, Scope, asked, memory_id, parse_memory_id, scope_of
from commonplace.integrations.mem0.shapes import EVENTS, Item, events, expiry, found, held, holds
from commonplace.memory import AsyncMemory as Commonplace

Results = dict[str, list[Item]]
FACTS = ("fact", "preference", "semantic", "context")
UNCHANGED = "unchanged"


class AsyncMemory:
    """mem0's calls on a Commonplace folder or URL. Without one: the folder that the settings name."""

    def __init__(self, location: str | PathLike[str] | None = None, **settings: Any) -> None:
        self._opening = Commonplace.open(location, **settings)
        self._memory: Commonplace | None = None
        self._first = asyncio.Lock()

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Take mem0's configuration: the model of its `llm`, and our own settings under `commonplace`."""
        return cls(**settings_of(config_dict))

    async def opened(self) -> Commonplace:
        """Return the memory underneath, for what mem0 has no call for."""
        async with self._first:
            if self._memory is None:
                self._memory = await self._opening
            return self._memory

    async def close(self) -> None:
        if self._memory is not None:
            await self._memory.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def add(
        self,
        /,
        messages: Content,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        filters: Mapping[str, Any] | None = None,
        **more: object,
    ) -> Results:
        """Keep what was said, and return what was learned from it. Without `infer`, each message becomes a memory."""
        ids = _ids("add", {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, **more})
        scope, _ = asked(filters, ids)
        kept = {**_without_identity(metadata), **scope.beside}
        if not infer:
            return {"results": await self._written(messages, scope, kept, expiry(expiration_date))}
        memory = await self.opened()
        added = await memory.add(
            messages,
            user=scope.owner,
            session=scope.beside.get("run_id"),
            agent=scope.beside.get("agent_id"),
            metadata=kept,
            expires_at=expiry(expiration_date),
            wait=True,
        )
        results = []
        for change in added.changes:
            if (event := EVENTS[change.change]) != "NONE":
                versions = await memory.history(change.fact, user=scope.owner)
                results.append({"id": memory_id(change.fact, scope.owner), "memory": versions[-1].text, "event": event})
        return {"results": results}

    async def _written(
        self, messages: Content, scope: Scope, metadata: Mapping[str, Json], expires_at: datetime | None
    ) -> list[Item]:
        """Write each message as a fact, word for word; not those of the system."""
        memory = await self.opened()
        results: list[Item] = []
        for message in [messages] if isinstance(messages, str | Mapping) else messages:
            said: Mapping[str, Any] = {"content": message} if isinstance(message, str) else message
            if (role := said.get("role", "user")) == "system":
                continue
            fact = await memory.remember(
                parse_text(said.get("content"), name="content"),
                user=scope.owner,
                metadata={**metadata, "role": role},
                expires_at=expires_at,
            )
            results.append({"id": memory_id(fact.id, scope.owner), "memory": fact.text, "event": "ADD", "role": role})
        return results

    async def search(
        self,
        /,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        **more: object,
    ) -> Results:
        """Find memories, the best first. Nothing relevant: none, whatever the threshold."""
        least = 0.0 if threshold is None else parse_share(threshold, name="threshold")
        scope, where = asked(filters, _ids("search", more))
        hits = await self._recalled(parse_text(query, name="query"), scope, where, top_k)
        return {"results": [hit for hit in hits if hit["score"] >= least]}

    async def get_all(self, /, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, **more: object) -> Results:
        """Return the memories that hold, the latest first."""
        scope, where = asked(filters, _ids("get_all", more))
        items = await self._recalled("", scope, where, top_k)
        return {"results": [{name: value for name, value in item.items() if name != "score"} for item in items]}

    async def _recalled(self, query: str, scope: Scope, where: Mapping[str, Any], top_k: object) -> list[Item]:
        limit = parse_count(top_k, name="top_k", least=1)
        memory = await self.opened()
        hits = await memory.recall(query, user=scope.owner, limit=limit, kinds=FACTS, where=where)
        return [found(hit, scope.owner) for hit in hits]

    async def get(self, memory_id: str) -> Item | None:
        """Return one memory; None when there is none, or when it has ended."""
        try:
            versions, owner = await self._versions(memory_id)
        except NotFound:
            return None
        return held(versions, owner) if holds(versions[-1].fact, datetime.now(UTC)) else None

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        expiration_date: date | str | None = UNCHANGED,
        data: str | None = None,
    ) -> dict[str, str]:
        """Give a memory another wording, more metadata, or another last day. The old wording stays in its history."""
        wording = text if text is not None else data
        if wording is None and metadata is None and expiration_date == UNCHANGED:
            raise InvalidInput("update: nothing is given; expected text, metadata or expiration_date")
        fact, owner = await self._current(memory_id)
        memory = await self.opened()
        if wording is not None and wording != fact.text:
            fact = await memory.revise(fact.id, wording, user=owner)
        if metadata is not None or expiration_date != UNCHANGED:
            await memory.remember(
                fact.text,
                user=owner,
                kind=fact.kind,
                importance=fact.importance,
                confidence=fact.confidence,
                valid_from=fact.valid_from,
                valid_to=fact.valid_to,
                expires_at=fact.expires_at if expiration_date == UNCHANGED else expiry(expiration_date),
                metadata={**fact.metadata, **_without_identity(metadata)},
            )
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory with its history. What was said stays; `opened().forget(message=…)` erases that, too."""
        fact, owner = await self._current(memory_id)
        await (await self.opened()).forget(fact=fact.id, user=owner)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Erase everything of an owner; with a run or agent beside it, the memories of that one."""
        scope = scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        memory = await self.opened()
        if len([one for one in (user_id, agent_id, run_id) if one is not None]) == 1:
            await memory.forget(user=scope.owner)
            return {"message": "Memories deleted successfully!"}
        if (run := scope.beside.get("run_id")) is not None and agent_id is None:
            await memory.forget(user=scope.owner, session=run)
        while page := await memory.facts(user=scope.owner, where=scope.beside):
            for fact in page:
                await memory.forget(fact=fact.id, user=scope.owner)
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Item]:
        """Return what happened to a memory, oldest first; nothing for one that is not there."""
        try:
            versions, owner = await self._versions(memory_id)
        except NotFound:
            return []
        return list(events(versions, owner))

    async def reset(self) -> None:
        """Erase every owner's memories of this tenant."""
        memory = await self.opened()
        await memory.forget(whole_tenant=(await memory.stats()).tenant)

    async def _versions(self, memory_id: str) -> tuple[Sequence[FactVersion], str]:
        fact, owner = parse_memory_id(memory_id)
        return await (await self.opened()).history(fact, user=owner), owner

    async def _current(self, memory_id: str) -> tuple[Any, str]:
        try:
            versions, owner = await self._versions(memory_id)
        except NotFound as error:
            raise InvalidInput(f"memory_id={memory_id!r}: no memory has this id") from error
        return versions[-1].fact, owner


def _ids(method: str, given: Mapping[str, object]) -> dict[str, object]:
    """Return whose it is. What mem0 takes and Commonplace cannot do is refused, unless it is off."""
    if wanted := [name for name, value in given.items() if name not in IDENTITY and value not in (None, False)]:
        raise InvalidInput(f"{method}({', '.join(wanted)}=…): not supported; docs/integrations-mem0.md says what is")
    return {name: given[name] for name in IDENTITY if given.get(name) is not None}


def _without_identity(metadata: Mapping[str, Json] | None) -> dict[str, Json]:
    """Metadata cannot move a memory to another owner, as in mem0."""
    return {name: value for name, value in parse_metadata(metadata).items() if name not in IDENTITY}


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return our settings for mem0's configuration, and say what of it has no meaning here."""
    settings = dict(cast(Mapping[str, Any], config.get("commonplace", {})))
    if llm := config.get("llm"):
        settings.setdefault("model", f"{llm['provider']}:{llm['config']['model']}")
    if unused := sorted(set(config) - {"commonplace", "llm", "version"}):
        warnings.warn(f"mem0's configuration of {', '.join(unused)} is not used by Commonplace", stacklevel=3)
    return settings
