"""AsyncClient: each method asks one route. Nothing is decided here, so that both sides mean the same."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Self

import httpx2

from commonplace.client.asking import Asking
from commonplace.client.caring import RemoteCaring
from commonplace.client.carrying import RemoteCarrying
from commonplace.client.filing import RemoteFiling
from commonplace.client.finding import RemoteFinding
from commonplace.client.paths import block_path, fact_path, user_of
from commonplace.client.session import RemoteSession
from commonplace.client.upkeep import RemoteUpkeep
from commonplace.domain.inputs import parse_name, parse_ttl
from commonplace.domain.offers import Attachable
from commonplace.domain.plain import from_json
from commonplace.domain.results import Added, Profile
from commonplace.domain.values import Block, BlockVersion, Fact, Json, SessionId, SessionInfo
from commonplace.engine.engine import Content
from commonplace.engine.finding import Moment

TIMEOUT = 120.0


class AsyncClient(RemoteFinding, RemoteFiling, RemoteCarrying, RemoteCaring, RemoteUpkeep):
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
        attachments: Sequence[Attachable] | None = None,
    ) -> Added:
        """Keep what was said, and learn from it. Durable, and found by recall, when it returns."""
        content = await self._uploaded(content, attachments, user=user)
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

    async def revise(
        self,
        fact_id: str,
        text: str | None = None,
        *,
        user: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        expires_at: Moment | None = None,
        reason: str = "",
        expected: Fact | None = None,
    ) -> Fact:
        """Give a fact another wording, metadata or expiry. How it was stays in its history."""
        body = {"text": text, "user": user, "metadata": metadata, "expires_at": expires_at, "reason": reason}
        return from_json(Fact, await self._asking.change("PATCH", fact_path(fact_id), body, expected=expected))

    async def retract(
        self, fact_id: str, *, user: str | None = None, reason: str = "", expected: Fact | None = None
    ) -> Fact:
        """Stop believing a fact. It stays in the history, and `restore` brings it back."""
        path, body = f"{fact_path(fact_id)}/retract", {"user": user, "reason": reason}
        return from_json(Fact, await self._asking.change("POST", path, body, expected=expected))

    async def restore(
        self, fact_id: str, *, user: str | None = None, reason: str = "", expected: Fact | None = None
    ) -> Fact:
        """Undo a retraction."""
        path, body = f"{fact_path(fact_id)}/restore", {"user": user, "reason": reason}
        return from_json(Fact, await self._asking.change("POST", path, body, expected=expected))

    # Working memory

    async def blocks(self, *, user: str | None = None) -> list[Block]:
        """Return the blocks in their order."""
        answer = await self._asking.get("/v1/blocks", user=user_of(user))
        return [from_json(Block, item) for item in answer["items"]]

    async def block_history(self, name: str, *, user: str | None = None) -> list[BlockVersion]:
        """Return what a block said, oldest first, and last what it says now. To restore one, set its text again."""
        answer = await self._asking.get(f"{block_path(name)}/history", user=user_of(user))
        return [from_json(BlockVersion, item) for item in answer["items"]]

    async def set_block(
        self,
        name: str,
        text: str,
        *,
        user: str | None = None,
        order: int | None = None,
        expected: Block | None = None,
    ) -> Block:
        """Write a block. A new one goes to the end, unless `order` says otherwise."""
        body = {"text": text, "user": user, "order": order}
        return from_json(Block, await self._asking.change("PUT", block_path(name), body, expected=expected))

    async def append_block(
        self, name: str, text: str, *, user: str | None = None, expected: Block | None = None
    ) -> Block:
        """Add a line to a block."""
        path, body = f"{block_path(name)}/append", {"text": text, "user": user}
        return from_json(Block, await self._asking.change("POST", path, body, expected=expected))

    async def delete_block(self, name: str, *, user: str | None = None, expected: Block | None = None) -> None:
        """Remove a block, and what it said before."""
        params = {"user": user_of(user)}
        await self._asking.change("DELETE", block_path(name), {}, expected=expected, params=params)

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
