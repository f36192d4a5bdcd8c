"""AsyncClient: each method asks one route. Nothing is decided here, so that both sides mean the same."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Self

import httpx2

from commonplace.client.asking import Asking
from commonplace.client.caring import RemoteCaring
from commonplace.client.carrying import RemoteCarrying
from commonplace.client.finding import RemoteFinding
from commonplace.client.paths import block_path, fact_path, user_of
from commonplace.client.session import RemoteSession
from commonplace.client.upkeep import RemoteUpkeep
from commonplace.domain.inputs import parse_name, parse_ttl
from commonplace.domain.plain import from_json
from commonplace.domain.results import Added, Profile
from commonplace.domain.values import Block, Fact, Json, SessionId, SessionInfo
from commonplace.engine.engine import Content
from commonplace.engine.finding import Moment

TIMEOUT = 120.0


class AsyncClient(RemoteFinding, RemoteCarrying, RemoteCaring, RemoteUpkeep):
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
        answer = await self._asking.call("PATCH", fact_path(fact_id), text=text, user=user, reason=reason)
        return from_json(Fact, answer)

    async def retract(self, fact_id: str, *, user: str | None = None, reason: str = "") -> Fact:
        """Stop believing a fact. It stays in the history, and `restore` brings it back."""
        answer = await self._asking.call("POST", f"{fact_path(fact_id)}/retract", user=user, reason=reason)
        return from_json(Fact, answer)

    async def restore(self, fact_id: str, *, user: str | None = None, reason: str = "") -> Fact:
        """Undo a retraction."""
        answer = await self._asking.call("POST", f"{fact_path(fact_id)}/restore", user=user, reason=reason)
        return from_json(Fact, answer)

    # Working memory

    async def blocks(self, *, user: str | None = None) -> list[Block]:
        """Return the blocks in their order."""
        answer = await self._asking.get("/v1/blocks", user=user_of(user))
        return [from_json(Block, item) for item in answer["items"]]

    async def set_block(self, name: str, text: str, *, user: str | None = None, order: int | None = None) -> Block:
        """Write a block. A new one goes to the end, unless `order` says otherwise."""
        return from_json(Block, await self._asking.call("PUT", block_path(name), text=text, user=user, order=order))

    async def append_block(self, name: str, text: str, *, user: str | None = None) -> Block:
        """Add a line to a block."""
        return from_json(Block, await self._asking.call("POST", f"{block_path(name)}/append", text=text, user=user))

    async def delete_block(self, name: str, *, user: str | None = None) -> None:
        """Remove a block."""
        await self._asking.call("DELETE", block_path(name), params={"user": user_of(user)})

    def session(self, session: str, *, user: str | None = None, ttl: float | timedelta | None = None) -> RemoteSession:
        """Take a conversation in hand: its state and its last messages."""
        seconds = None if ttl is None else parse_ttl(ttl)
        name = SessionId(parse_name(session, name="session"))
        return RemoteSession(self._asking, name, user=user_of(user), ttl=seconds)

    async def sessions(self, *, user: str | None = None) -> list[SessionInfo]:
        """Return the active sessions, the latest seen first."""
        answer = await self._asking.get("/v1/sessions", user=user_of(user))
        return [from_json(SessionInfo, item) for item in answer["items"]]

    async def profile(self, *, user: str | None = None) -> Profile:
        """Return one user at a glance."""
        return from_json(Profile, await self._asking.get("/v1/profile", user=user_of(user)))


def _several(content: Content) -> bool:
    return not isinstance(content, str | Mapping)
