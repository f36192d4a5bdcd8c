"""mem0's AsyncMemory. It opens the memory at the first call, because mem0's is made without `await`."""

import warnings
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Self, Unpack, get_args

from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.inputs import parse_count, parse_share, parse_text
from commonplace.domain.times import parse_last_day
from commonplace.domain.values import FactKind, FactVersion, Json, Recalled
from commonplace.engine.engine import Content
from commonplace.integrations.mem0.scoping import Whose, asked, scope_of, without_identity
from commonplace.integrations.mem0.shapes import EVENTS, Item, event, events, held, item
from commonplace.integrations.owned import parse_owned_id
from commonplace.memory import OpensLater

Results = dict[str, list[Item]]
UNCHANGED = "unchanged"


class AsyncMemory(OpensLater):
    """mem0's calls on a Commonplace folder or URL. Without one: the folder that the settings name."""

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Take mem0's configuration: the model of its `llm`, and our own settings under `commonplace`."""
        return cls(**settings_of(config_dict))

    async def add(
        self,
        /,
        messages: Content,
        *,
        metadata: Mapping[str, Json] | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        **whose: Unpack[Whose],
    ) -> Results:
        """Keep what was said, and return what was learned from it. Without `infer`, each message becomes a memory."""
        (owner, beside), _ = asked("add", whose)
        memory, run, agent = await self.opened(), beside.get("run_id"), beside.get("agent_id")
        about, ends = {**without_identity(metadata), **beside}, parse_last_day(expiration_date, name="expiration_date")
        if not infer:
            return {"results": [await self._written(one, owner, about, ends) for one in _said(messages)]}
        added = await memory.add(
            messages, user=owner, session=run, agent=agent, metadata=about, expires_at=ends, wait=True
        )
        changes = [change for change in added.changes if change.change in EVENTS]
        facts = [(await memory.history(change.fact, user=owner))[-1].fact for change in changes]
        return {"results": [event(EVENTS[one.change], fact, owner) for one, fact in zip(changes, facts, strict=True)]}

    async def _written(
        self, said: Mapping[str, Any], owner: str, metadata: Mapping[str, Json], expires_at: datetime | None
    ) -> Item:
        """Write a message as a fact, word for word."""
        memory, role, text = await self.opened(), said.get("role", "user"), parse_text(said["content"], name="content")
        about = {**metadata, "role": role}
        fact = await memory.remember(text, user=owner, metadata=about, expires_at=expires_at)
        return {**event("ADD", fact, owner), "role": role}

    async def search(
        self, /, query: str, *, top_k: int = 20, threshold: float | None = None, **whose: Unpack[Whose]
    ) -> Results:
        """Find memories, the best first. Nothing relevant: none, whatever the threshold."""
        least = 0.0 if threshold is None else parse_share(threshold, name="threshold")
        owner, hits = await self._recalled("search", parse_text(query, name="query"), top_k, whose)
        good = [hit for hit in hits if hit.score >= least]
        return {"results": [{**item(hit, owner, created=hit.at, updated=hit.at), "score": hit.score} for hit in good]}

    async def get_all(self, /, *, top_k: int = 20, **whose: Unpack[Whose]) -> Results:
        """Return the memories that hold, the latest first."""
        owner, hits = await self._recalled("get_all", "", top_k, whose)
        return {"results": [item(hit, owner, created=hit.at, updated=hit.at) for hit in hits]}

    async def _recalled(self, method: str, query: str, top_k: object, whose: Whose) -> tuple[str, Sequence[Recalled]]:
        (owner, _), where = asked(method, whose)
        limit, memory = parse_count(top_k, name="top_k", least=1), await self.opened()
        return owner, await memory.recall(query, user=owner, limit=limit, kinds=get_args(FactKind), where=where)

    async def get(self, memory_id: str) -> Item | None:
        """Return one memory; None when there is none, or when it has ended."""
        return held(*await self._versions(memory_id))

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        expiration_date: date | str | None = UNCHANGED,
        data: str | None = None,
    ) -> dict[str, str]:
        """Give a memory another wording, more metadata, or another last day. The old wording stays in its history."""
        fact, owner = await self._known(memory_id)
        about = None if metadata is None else without_identity(metadata)
        ends = (
            None if expiration_date == UNCHANGED else parse_last_day(expiration_date, name="expiration_date") or "never"
        )
        words = data if text is None else text
        await (await self.opened()).revise(fact, words, user=owner, metadata=about, expires_at=ends)
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory with its history. What was said stays; `opened().forget(message=…)` erases that, too."""
        fact, owner = await self._known(memory_id)
        await (await self.opened()).forget(fact=fact, user=owner)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Erase everything of an owner; with a run or agent beside it, the memories of that one."""
        owner, beside = scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        memory = await self.opened()
        if [user_id, agent_id, run_id].count(None) == 2:
            await memory.forget(user=owner)
        elif agent_id is None:
            await memory.forget(user=owner, session=run_id)
        while page := await memory.facts(user=owner, where=beside):
            for fact in page:
                await memory.forget(fact=fact.id, user=owner)
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Item]:
        """Return what happened to a memory, oldest first; nothing for one that is not there."""
        return list(events(*await self._versions(memory_id)))

    async def reset(self) -> None:
        """Erase every owner's memories of this tenant."""
        memory = await self.opened()
        await memory.forget(whole_tenant=(await memory.stats()).tenant)

    async def _versions(self, memory_id: str) -> tuple[Sequence[FactVersion], str]:
        fact, owner = parse_owned_id(memory_id, name="memory_id")
        try:
            return await (await self.opened()).history(fact, user=owner), owner
        except NotFound:
            return (), owner

    async def _known(self, memory_id: str) -> tuple[str, str]:
        """Return the fact and its owner. Raises a ValueError where there is none, as mem0 does."""
        versions, owner = await self._versions(memory_id)
        if not versions:
            raise InvalidInput(f"memory_id={memory_id!r}: no memory has this id")
        return versions[-1].fact.id, owner


def _said(messages: Content) -> list[Mapping[str, Any]]:
    """Return the messages that become memories as they are: not those of the system."""
    given = [messages] if isinstance(messages, str | Mapping) else messages
    said = [{"content": one} if isinstance(one, str) else one for one in given]
    return [one for one in said if one.get("role") != "system"]


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return our settings for mem0's configuration, and say what of it has no meaning here."""
    settings = dict(config.get("commonplace", {}))
    if llm := config.get("llm"):
        settings.setdefault("model", f"{llm['provider']}:{llm['config']['model']}")
    if unused := sorted(set(config) - {"commonplace", "llm", "version"}):
        warnings.warn(f"mem0's configuration of {', '.join(unused)} is not used by Commonplace", stacklevel=3)
    return settings
