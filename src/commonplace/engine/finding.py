"""The methods of the product that find: recall, context, and what is known or was said."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from commonplace.domain.cursors import decode_cursor, encode_cursor
from commonplace.domain.errors import NotFound
from commonplace.domain.inputs import (
    parse_count,
    parse_during,
    parse_kinds,
    parse_name,
    parse_optional_name,
    parse_share,
    parse_text,
)
from commonplace.domain.results import Context, Page, Recollection, WhyNot
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, parse_optional_moment, to_micros
from commonplace.domain.values import Fact, FactId, FactVersion, Message, SessionId
from commonplace.domain.where import parse_where
from commonplace.engine.absence import Absence
from commonplace.engine.contexts import Contexts
from commonplace.engine.parts import Parts
from commonplace.engine.recalling import Recalling
from commonplace.ports.embedder import Vectors
from commonplace.ports.ledger import MessageQuery
from commonplace.recall.request import Request

Moment = datetime | str


class Finding:
    _parts: Parts
    _recalling: Recalling
    _contexts: Contexts
    _absence: Absence

    def _whose(self, user: object) -> Scope:
        return Scope(self._parts.options.tenant, parse_optional_name(user, name="user"))

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
        request = parse_request(
            query,
            limit=limit,
            kinds=kinds,
            session=session,
            agent=agent,
            during=during,
            valid_at=valid_at,
            as_of=as_of,
            where=where,
            min_relevance=min_relevance,
            explain=explain,
        )
        return await self._recalling.recall(self._whose(user), request)

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
        """Say why a message or fact is not among the results of the same `recall`: what kept it out, with its numbers.

        An id that is somebody else's is as unknown as one that nobody has.
        """
        request = parse_request(
            query,
            limit=limit,
            kinds=kinds,
            session=session,
            agent=agent,
            during=during,
            valid_at=valid_at,
            as_of=as_of,
            where=where,
            min_relevance=min_relevance,
            explain=True,
        )
        return await self._absence.why_not(self._whose(user), parse_name(item_id, name="item_id"), request)

    async def embed(self, texts: Sequence[str], *, user: str | None = None) -> Vectors:
        """Return what a user's embedding model makes of texts: one row of length 1 each. Raises EmbedderUnavailable."""
        return await self._recalling.embed(self._whose(user), [parse_text(text, name="texts") for text in texts])

    async def context(
        self, query: str, *, user: str | None = None, session: str | None = None, budget: int = 800
    ) -> Context:
        """Recall, packed into `budget` tokens and fenced as data, ready to put in a prompt. Blocks come first.

        `session` is the conversation going on: what it said is in the prompt already, so it is left out.
        """
        return await self._contexts.context(
            self._whose(user),
            parse_query(query),
            session=parse_session(session),
            budget=parse_count(budget, name="budget", most=1_000_000),
        )

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
        request = Request(
            query="",
            limit=parse_count(limit, name="limit", least=1),
            kinds=parse_kinds(kinds),
            valid_at=parse_optional_moment(valid_at, name="valid_at"),
            as_of=parse_optional_moment(as_of, name="as_of"),
            where=parse_where(where),
        )
        place = decode_cursor(cursor, parts=1)
        return await self._recalling.facts(self._whose(user), request, before=place[0] if place else None)

    async def history(self, fact_id: str, *, user: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first, each with the messages that led to it."""
        fact = parse_fact(fact_id)
        versions = await self._parts.ledger.history(self._whose(user), fact)
        if not versions:
            raise NotFound("fact", fact)
        return list(versions)

    async def messages(
        self, *, session: str | None = None, user: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[Message]:
        """Return the last messages, oldest first; `next_cursor` leads to those before them."""
        place = decode_cursor(cursor, parts=2)
        query = MessageQuery(
            session=parse_session(session),
            before=(from_micros(place[0]), place[1]) if place else None,
            limit=parse_count(limit, name="limit", least=1),
        )
        page = await self._parts.ledger.messages(self._whose(user), query)
        following = encode_cursor(to_micros(page.next[0]), page.next[1]) if page.next else None
        return Page(tuple(reversed(page.messages)), following)


def parse_request(
    query: str,
    *,
    limit: int,
    kinds: Iterable[str] | str | None,
    session: str | None,
    agent: str | None,
    during: tuple[Moment | None, Moment | None] | None,
    valid_at: Moment | None,
    as_of: Moment | None,
    where: Mapping[str, Any] | None,
    min_relevance: float | None,
    explain: bool,
) -> Request:
    return Request(
        query=parse_query(query),
        limit=parse_count(limit, name="limit"),
        kinds=parse_kinds(kinds),
        session=parse_session(session),
        agent=parse_optional_name(agent, name="agent"),
        during=parse_during(during),
        valid_at=parse_optional_moment(valid_at, name="valid_at"),
        as_of=parse_optional_moment(as_of, name="as_of"),
        where=parse_where(where),
        min_relevance=None if min_relevance is None else parse_share(min_relevance, name="min_relevance"),
        explain=explain,
    )


def parse_session(value: object) -> SessionId | None:
    name = parse_optional_name(value, name="session")
    return None if name is None else SessionId(name)


def parse_fact(value: object) -> FactId:
    return FactId(parse_name(value, name="fact_id"))


def parse_query(value: object) -> str:
    return value if isinstance(value, str) and not value.strip() else parse_text(value, name="query")
