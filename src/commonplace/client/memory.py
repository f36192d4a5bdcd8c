"""AsyncClient: each method asks one route. Nothing is decided here, so that both sides mean the same."""

import io
import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from os import PathLike
from typing import Any, Self
from urllib.parse import quote

import httpx2

from commonplace.care.export import Export
from commonplace.client.asking import Asking
from commonplace.client.caring import RemoteCaring
from commonplace.client.session import RemoteSession
from commonplace.domain.inputs import parse_count, parse_name, parse_optional_name, parse_ttl
from commonplace.domain.plain import from_json
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.results import Added, Context, Page, Profile, Recollection
from commonplace.domain.values import Block, Fact, FactVersion, Json, Message, Recalled, SessionId, SessionInfo
from commonplace.engine.engine import Content
from commonplace.engine.finding import Moment

TIMEOUT = 120.0


class AsyncClient(RemoteCaring):
    """The memory of a service. Use it as `async with`, or call `aclose` at the end."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """The key decides whose memory it is: a tenant's, or one user's. `transport` is for tests."""
        self._asking = Asking(url, key=key, timeout=timeout, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._asking.aclose()

    # Keeping

    async def add(
        self,
        content: Content,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        at: Moment | None = None,
        metadata: Mapping[str, Json] | None = None,
        expires_at: Moment | None = None,
        learn: bool = True,
        wait: bool = False,
    ) -> Added:
        """Keep what was said, and learn from it. Durable, and found by recall, when it returns."""
        said = [{"content": one} if isinstance(one, str) else one for one in content] if _several(content) else content
        answer = await self._asking.call(
            "POST",
            "/v1/messages",
            content=said,
            user=user,
            session=session,
            agent=agent,
            at=at,
            metadata=metadata,
            expires_at=expires_at,
            learn=learn,
            wait=wait,
        )
        return from_json(Added, answer)

    async def remember(
        self,
        text: str,
        *,
        user: str | None = None,
        kind: str = "fact",
        importance: float = 0.5,
        confidence: float = 1.0,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires_at: Moment | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Fact:
        """Write a fact by hand. The same statement twice is one fact."""
        answer = await self._asking.call(
            "POST",
            "/v1/facts",
            text=text,
            user=user,
            kind=kind,
            importance=importance,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
            metadata=metadata,
        )
        return from_json(Fact, answer)

    async def revise(self, fact_id: str, text: str, *, user: str | None = None, reason: str = "") -> Fact:
        """Give a fact another wording. The old one stays in its history."""
        answer = await self._asking.call("PATCH", _fact(fact_id), text=text, user=user, reason=reason)
        return from_json(Fact, answer)

    async def retract(self, fact_id: str, *, user: str | None = None, reason: str = "") -> Fact:
        """Stop believing a fact. It stays in the history, and `restore` brings it back."""
        answer = await self._asking.call("POST", f"{_fact(fact_id)}/retract", user=user, reason=reason)
        return from_json(Fact, answer)

    async def restore(self, fact_id: str, *, user: str | None = None, reason: str = "") -> Fact:
        """Undo a retraction."""
        answer = await self._asking.call("POST", f"{_fact(fact_id)}/restore", user=user, reason=reason)
        return from_json(Fact, answer)

    # Finding

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
            kinds=_kinds(kinds),
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
            user=_user(user),
            valid_at=valid_at,
            as_of=as_of,
            kinds=_kinds(kinds),
            where=None if where is None else json.dumps(where),
            limit=parse_count(limit, name="limit", least=1),
            cursor=cursor,
        )
        return Page(tuple(from_json(Fact, item) for item in answer["items"]), answer["next_cursor"])

    async def history(self, fact_id: str, *, user: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first, each with the messages that led to it."""
        answer = await self._asking.get(f"{_fact(fact_id)}/history", user=_user(user))
        return [from_json(FactVersion, item) for item in answer["items"]]

    async def messages(
        self, *, session: str | None = None, user: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[Message]:
        """Return the last messages, oldest first; `next_cursor` leads to those before them."""
        answer = await self._asking.get(
            "/v1/messages",
            user=_user(user),
            session=parse_optional_name(session, name="session"),
            limit=parse_count(limit, name="limit", least=1),
            cursor=cursor,
        )
        return Page(tuple(from_json(Message, item) for item in answer["items"]), answer["next_cursor"])

    async def message(self, message_id: str, *, user: str | None = None) -> Message:
        """Return one message."""
        path = f"/v1/messages/{segment(message_id, name='message_id')}"
        return from_json(Message, await self._asking.get(path, user=_user(user)))

    # Working memory

    async def blocks(self, *, user: str | None = None) -> list[Block]:
        """Return the blocks in their order."""
        answer = await self._asking.get("/v1/blocks", user=_user(user))
        return [from_json(Block, item) for item in answer["items"]]

    async def set_block(self, name: str, text: str, *, user: str | None = None, order: int | None = None) -> Block:
        """Write a block. A new one goes to the end, unless `order` says otherwise."""
        return from_json(Block, await self._asking.call("PUT", _block(name), text=text, user=user, order=order))

    async def append_block(self, name: str, text: str, *, user: str | None = None) -> Block:
        """Add a line to a block."""
        return from_json(Block, await self._asking.call("POST", f"{_block(name)}/append", text=text, user=user))

    async def delete_block(self, name: str, *, user: str | None = None) -> None:
        """Remove a block."""
        await self._asking.call("DELETE", _block(name), params={"user": _user(user)})

    def session(self, session: str, *, user: str | None = None, ttl: float | timedelta | None = None) -> RemoteSession:
        """Take a conversation in hand: its state and its last messages."""
        seconds = None if ttl is None else parse_ttl(ttl)
        name = SessionId(parse_name(session, name="session"))
        return RemoteSession(self._asking, name, user=_user(user), ttl=seconds)

    async def sessions(self, *, user: str | None = None) -> list[SessionInfo]:
        """Return the active sessions, the latest seen first."""
        answer = await self._asking.get("/v1/sessions", user=_user(user))
        return [from_json(SessionInfo, item) for item in answer["items"]]

    async def profile(self, *, user: str | None = None) -> Profile:
        """Return one user at a glance."""
        return from_json(Profile, await self._asking.get("/v1/profile", user=_user(user)))

    async def export(
        self,
        *,
        user: str | None = None,
        to: str | PathLike[str] | None = None,
        vectors: bool = False,
        progress: Progress = unseen,
    ) -> Export:
        """Return everything held on a user, as of this moment: one JSON object a line."""
        params = {"vectors": str(vectors).lower()} | ({} if _user(user) is None else {"user": str(user)})
        answer = await self._asking.send("GET", "/v1/export", params=params)
        counts = json.loads(answer.headers.get("x-commonplace-counts", "{}"))
        held = Export(io.BytesIO(answer.content), user=user, counts=counts)
        if to is not None:
            held.write(to)
        return held


def segment(value: object, *, name: str) -> str:
    """Return a name as one segment of a path, whatever it is made of."""
    return quote(parse_name(value, name=name), safe="", errors="surrogateescape").replace(".", "%2E")


def _several(content: Content) -> bool:
    return not isinstance(content, str | Mapping)


def _fact(fact_id: str) -> str:
    return f"/v1/facts/{segment(fact_id, name='fact_id')}"


def _block(name: str) -> str:
    return f"/v1/blocks/{segment(name, name='name')}"


def _user(user: object) -> str | None:
    return parse_optional_name(user, name="user")


def _kinds(kinds: Iterable[str] | str | None) -> list[str] | None:
    return None if kinds is None else [kinds] if isinstance(kinds, str) else sorted(kinds)
