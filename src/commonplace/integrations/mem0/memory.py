"""mem0's AsyncMemory. It opens the memory at the first call, because mem0's is made without `await`."""

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from os import PathLike
from typing import Any, Self, cast

from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.inputs import parse_count, parse_metadata, parse_share, parse_text
from commonplace.domain.values import Fact, FactVersion, Json
from commonplace.engine.engine import Content
from commonplace.integrations.mem0.scoping import IDENTITY, Scope, asked, memory_id, parse_memory_id, scope_of
from commonplace.integrations.mem0.shapes import ADDED, EVENTS, Item, events, expiry, found, held, holds
from commonplace.memory import AsyncMemory as Commonplace

Results = dict[str, list[Item]]
FACTS = ("fact", "preference", "semantic", "context")
UNCHANGED = "unchanged"


class AsyncMemory:
    """mem0's calls on a Commonplace folder or URL. Without one: the folder that the settings name."""

    def __init__(self, location: str | PathLike[str] | None = None, **settings: Any) -> None:
        self._opening, self._first = Commonplace.open(location, **settings), asyncio.Lock()
        self._memory: Commonplace | None = None

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Take mem0's configuration: the model of its `llm`, and our own settings under `commonplace`."""
        return cls(**settings_of(config_dict))

    async def opened(self) -> Commonplace:
        """Return the memory underneath, for what mem0 has no call for."""
        async with self._first:
            self._memory = self._memory or await self._opening
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
        scope, _ = asked(filters, _ids("add", {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, **more}))
        kept, ends = {**_without_identity(metadata), **scope.beside}, expiry(expiration_date)
        if not infer:
            return {"results": await self._written(messages, scope, kept, ends)}
        memory, (owner, beside) = await self.opened(), scope
        run, agent = beside.get("run_id"), beside.get("agent_id")
        added = await memory.add(
            messages, user=owner, session=run, agent=agent, metadata=kept, expires_at=ends, wait=True
        )
        changes = [change for change in added.changes if change.change in EVENTS]
        texts = [(await memory.history(change.fact, user=owner))[-1].text for change in changes]
        return {
            "results": [
                {"id": memory_id(change.fact, owner), "memory": text, "event": EVENTS[change.change]}
                for change, text in zip(changes, texts, strict=True)
            ]
        }

    async def _written(
        self, messages: Content, scope: Scope, metadata: Mapping[str, Json], expires_at: datetime | None
    ) -> list[Item]:
        """Write each message as a fact, word for word; not those of the system."""
        memory, results = await self.opened(), []
        for message in [messages] if isinstance(messages, str | Mapping) else messages:
            said: Mapping[str, Any] = {"content": message} if isinstance(message, str) else message
            if (role := said.get("role", "user")) != "system":
                text, about = parse_text(said.get("content"), name="content"), {**metadata, "role": role}
                fact = await memory.remember(text, user=scope.owner, metadata=about, expires_at=expires_at)
                results.append(
                    {"id": memory_id(fact.id, scope.owner), "memory": fact.text, "event": ADDED, "role": role}
                )
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
        hits = await self._recalled("search", parse_text(query, name="query"), filters, more, top_k)
        return {"results": [hit for hit in hits if hit["score"] >= least]}

    async def get_all(self, /, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, **more: object) -> Results:
        """Return the memories that hold, the latest first."""
        items = await self._recalled("get_all", "", filters, more, top_k)
        return {"results": [{name: value for name, value in item.items() if name != "score"} for item in items]}

    async def _recalled(
        self, method: str, query: str, filters: Mapping[str, Any] | None, more: Mapping[str, object], top_k: object
    ) -> list[Item]:
        (owner, _), where = asked(filters, _ids(method, more))
        limit, memory = parse_count(top_k, name="top_k", least=1), await self.opened()
        return [
            found(hit, owner) for hit in await memory.recall(query, user=owner, limit=limit, kinds=FACTS, where=where)
        ]

    async def get(self, memory_id: str) -> Item | None:
        """Return one memory; None when there is none, or when it has ended."""
        versions, owner = await self._versions(memory_id)
        return held(versions, owner) if versions and holds(versions[-1].fact, datetime.now(UTC)) else None

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        expiration_date: date | str | None = UNCHANGED,
        data: str | None = None,
    ) -> dict[str, str]:
        """Give a memory another wording, more metadata, or another last day. The old wording stays in its history."""
        wording, lasting = text if text is not None else data, expiration_date == UNCHANGED
        if wording is None and metadata is None and lasting:
            raise InvalidInput("update: nothing is given; expected text, metadata or expiration_date")
        fact, owner = await self._current(memory_id)
        memory = await self.opened()
        if wording is not None and wording != fact.text:
            fact = await memory.revise(fact.id, wording, user=owner)
        if metadata is not None or not lasting:
            kept = ("kind", "importance", "confidence", "valid_from", "valid_to")
            await memory.remember(
                fact.text,
                user=owner,
                expires_at=fact.expires_at if lasting else expiry(expiration_date),
                metadata={**fact.metadata, **_without_identity(metadata)},
                **{name: getattr(fact, name) for name in kept},
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
        owner, beside = scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        memory, done = await self.opened(), {"message": "Memories deleted successfully!"}
        if [user_id, agent_id, run_id].count(None) == 2:
            await memory.forget(user=owner)
            return done
        if run_id is not None and agent_id is None:
            await memory.forget(user=owner, session=beside["run_id"])
        while page := await memory.facts(user=owner, where=beside):
            for fact in page:
                await memory.forget(fact=fact.id, user=owner)
        return done

    async def history(self, memory_id: str) -> list[Item]:
        """Return what happened to a memory, oldest first; nothing for one that is not there."""
        return list(events(*await self._versions(memory_id)))

    async def reset(self) -> None:
        """Erase every owner's memories of this tenant."""
        memory = await self.opened()
        await memory.forget(whole_tenant=(await memory.stats()).tenant)

    async def _versions(self, memory_id: str) -> tuple[Sequence[FactVersion], str]:
        fact, owner = parse_memory_id(memory_id)
        try:
            return await (await self.opened()).history(fact, user=owner), owner
        except NotFound:
            return (), owner

    async def _current(self, memory_id: str) -> tuple[Fact, str]:
        versions, owner = await self._versions(memory_id)
        if not versions:
            raise InvalidInput(f"memory_id={memory_id!r}: no memory has this id")
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
