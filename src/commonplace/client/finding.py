"""The methods of AsyncClient that find what is kept, and what others read out of a message."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commonplace.client.asking import Asking
from commonplace.client.paths import fact_path, kinds_of, segment, user_of
from commonplace.domain.claims import Proposal
from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import parse_count, parse_optional_name
from commonplace.domain.plain import from_json
from commonplace.domain.results import Added, Context, Page, Recollection, WhyNot
from commonplace.domain.values import Fact, FactVersion, Message, Recalled
from commonplace.engine.finding import Moment


class RemoteFinding:
    _asking: Asking

    async def recall(
        self,
        query: str,
        *,
        user: str | None = None,
        limit: int = 10,
        kinds: Iterable[str] | str | None = None,
        session: str | None = None,
        agent: str | None = None,
        during: tuple[Moment | None, Moment | None] | None = None,
        valid_at: Moment | None = None,
        as_of: Moment | None = None,
        where: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
        explain: bool = False,
    ) -> Recollection:
        """Find what matters for a query, the best first; for an empty query, the latest. Nothing relevant: nothing."""
        answer = await self._asking.call(
            "POST",
            "/v1/recall",
            query=query,
            user=user,
            limit=limit,
            kinds=kinds_of(kinds),
            session=session,
            agent=agent,
            during=during,
            valid_at=valid_at,
            as_of=as_of,
            where=where,
            min_relevance=min_relevance,
            explain=explain,
        )
        return Recollection((from_json(Recalled, item) for item in answer["items"]), notes=answer["notes"])

    async def why_not(
        self,
        item_id: str,
        query: str,
        *,
        user: str | None = None,
        limit: int = 10,
        kinds: Iterable[str] | str | None = None,
        session: str | None = None,
        agent: str | None = None,
        during: tuple[Moment | None, Moment | None] | None = None,
        valid_at: Moment | None = None,
        as_of: Moment | None = None,
        where: Mapping[str, Any] | None = None,
        min_relevance: float | None = None,
    ) -> WhyNot:
        """Say why a message or fact is not among the results of the same `recall`: what kept it out."""
        answer = await self._asking.call(
            "POST",
            "/v1/why-not",
            id=item_id,
            query=query,
            user=user,
            limit=limit,
            kinds=kinds_of(kinds),
            session=session,
            agent=agent,
            during=during,
            valid_at=valid_at,
            as_of=as_of,
            where=where,
            min_relevance=min_relevance,
        )
        return from_json(WhyNot, answer)

    async def context(
        self, query: str, *, user: str | None = None, session: str | None = None, budget: int = 800
    ) -> Context:
        """Recall, packed into `budget` tokens and fenced as data, ready to put in a prompt. Blocks come first."""
        answer = await self._asking.call("POST", "/v1/context", query=query, user=user, session=session, budget=budget)
        return from_json(Context, answer)

    async def facts(
        self,
        *,
        user: str | None = None,
        valid_at: Moment | None = None,
        as_of: Moment | None = None,
        kinds: Iterable[str] | str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Fact]:
        """Return the facts that hold, the latest first; at another moment with `valid_at` and `as_of`."""
        answer = await self._asking.get(
            "/v1/facts",
            user=user_of(user),
            valid_at=valid_at,
            as_of=as_of,
            kinds=kinds_of(kinds),
            where=None if where is None else json.dumps(where),
            limit=parse_count(limit, name="limit", least=1),
            cursor=cursor,
        )
        return Page(tuple(from_json(Fact, item) for item in answer["items"]), answer["next_cursor"])

    async def history(self, fact_id: str, *, user: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first, each with the messages that led to it."""
        answer = await self._asking.get(f"{fact_path(fact_id)}/history", user=user_of(user))
        return [from_json(FactVersion, item) for item in answer["items"]]

    async def messages(
        self, *, session: str | None = None, user: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[Message]:
        """Return the last messages, oldest first; `next_cursor` leads to those before them."""
        answer = await self._asking.get(
            "/v1/messages",
            user=user_of(user),
            session=parse_optional_name(session, name="session"),
            limit=parse_count(limit, name="limit", least=1),
            cursor=cursor,
        )
        return Page(tuple(from_json(Message, item) for item in answer["items"]), answer["next_cursor"])

    async def message(self, message_id: str, *, user: str | None = None) -> Message:
        """Return one message."""
        path = f"/v1/messages/{segment(message_id, name='message_id')}"
        return from_json(Message, await self._asking.get(path, user=user_of(user)))

    async def propose(
        self, message_id: str, proposals: Sequence[Proposal], *, user: str | None = None, by: str = "agent"
    ) -> Added:
        """Learn what `by` says that a message of the user states. What the message does not say is dropped."""
        if not all(isinstance(one, Proposal) for one in proposals):
            raise InvalidInput("proposals: expected values of type Proposal")
        path = f"/v1/messages/{segment(message_id, name='message_id')}/proposals"
        return from_json(Added, await self._asking.call("POST", path, proposals=list(proposals), user=user, by=by))
