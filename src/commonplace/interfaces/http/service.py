"""The memory behind the service: one set of parts, a memory for each tenant, and who may come in."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from commonplace import agents
from commonplace.agents.notebook import Notebook
from commonplace.agents.turns import Answering
from commonplace.domain.errors import Closed, EmbedderUnavailable, InvalidInput
from commonplace.domain.keys import parse_token
from commonplace.engine.parts import Parts
from commonplace.interfaces.http.access import Caller, Unauthenticated
from commonplace.interfaces.http.observing import Observer
from commonplace.interfaces.http.stages import watched
from commonplace.memory import AsyncMemory
from commonplace.ports.answers import Answers
from commonplace.ports.keys import KeyRing
from commonplace.ports.ledger import Ledger
from commonplace.settings import Settings
from commonplace.stopping import stop
from commonplace.wiring import Embed, Embeds, Location, open_chat_model, open_limits, opened

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


class Service:
    """Open for the length of the process. Tenants are opened when they are first asked for."""

    def __init__(
        self,
        home: AsyncMemory,
        *,
        settings: Settings,
        parts: Parts,
        keys: KeyRing,
        answers: Answers,
        answering: Callable[[AsyncMemory], Answering],
        observer: Observer,
        key_needed: bool = False,
    ) -> None:
        """Without `key_needed`, who shows no key is the operator, for as long as no key was made."""
        self.settings, self.keys, self.answers, self.answering = settings, keys, answers, answering
        self.ledger: Ledger = parts.ledger
        self.copies, self.index_state = parts.copies, parts.index_state
        self.limits: Storage | None = None
        """Where requests are counted for all processes; None: each counts its own."""
        self.model = settings.agent_model
        """Who answers a chat; None: the memory itself."""
        self.observer = observer
        self.embedder, self._embedder_state = parts.embedder, ""
        self.closing = asyncio.Event()
        """Set when the process is to end: streams that have no end of their own end then."""
        self._home, self._key_needed = home, key_needed
        self._opening, self._ended = asyncio.Lock(), False
        self._memories: dict[str, AsyncMemory] = {settings.tenant: home}
        self._tending: list[asyncio.Task[None]] = []

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def memory(self, tenant: str) -> AsyncMemory:
        """Return the memory of a tenant."""
        found = self._memories.get(tenant)
        if found is not None:
            return found
        async with self._opening:
            if self._ended:
                raise Closed("the service is about to end")
            if tenant not in self._memories:
                self._memories[tenant] = await self._home.beside(tenant)
                self._tend(self._memories[tenant])
            return self._memories[tenant]

    def _tend(self, memory: AsyncMemory) -> None:
        """Do what is due from time to time: what has expired goes, snapshots are made."""
        self._tending.append(asyncio.create_task(memory.tend(), name="commonplace-tend"))

    @property
    def memories(self) -> Mapping[str, AsyncMemory]:
        """The tenants that are open."""
        return self._memories

    async def start(self) -> None:
        """Open every tenant that has a key, so that what it left to learn goes on before anybody asks."""
        self._tend(self._home)
        for tenant in dict.fromkeys(key.tenant for key in await self.keys.keys() if key.usable(self.now())):
            await self.memory(tenant)

    async def aclose(self) -> None:
        """Hand back what is being learned. The home memory is closed by who opened it."""
        self.closing.set()
        self._ended = True
        async with self._opening:
            await stop(*self._tending)
            for memory in self._memories.values():
                if memory is not self._home:
                    await memory.aclose()

    async def embedder_state(self) -> str:
        """Return `ok` once the embedding model has answered; what is wrong while it has not."""
        if self._embedder_state != "ok":
            try:
                await self.embedder.embed(["ready"])
                self._embedder_state = "ok"
            except EmbedderUnavailable:
                self._embedder_state = "EmbedderUnavailable: what is found is found by its words only"
        return self._embedder_state

    async def admit(self, token: str | None) -> Caller:
        """Return who shows this token. Raises Unauthenticated, in the same words whatever is wrong with it."""
        if token is None:
            return await self._without_key()
        parsed = parse_token(token)
        key = None if parsed is None else await self.keys.find_key(parsed.id)
        if parsed is None or key is None or not key.fits(parsed.secret) or not key.usable(self.now()):
            raise Unauthenticated("this key opens nothing here: it is unknown, has expired or was revoked")
        return Caller(tenant=key.tenant, user=key.user, role=key.role, key=key.id)

    async def _without_key(self) -> Caller:
        if self._key_needed or await self.keys.any_usable_key(now=self.now()):
            raise Unauthenticated("a key is needed: send it as `Authorization: Bearer cp_…` (commonplace key create)")
        return Caller(tenant=self.settings.tenant, role="admin")


@asynccontextmanager
async def opened_service(
    location: Location,
    overrides: Mapping[str, object],
    *,
    embedder: Embed | None = None,
    embedders: Embeds | None = None,
    key_needed: bool = False,
) -> AsyncIterator[Service]:
    """Open the memory that the settings name, and the service on it; close both in the end."""
    settings = Settings.from_sources(**location.settings(), **overrides)
    observer = Observer(process=str(os.getpid()) if settings.api_workers > 1 else None)
    async with opened(location, overrides, embedder, embedders) as plain:
        parts = watched(plain, observer.stage)
        ledger: object = parts.ledger
        if not isinstance(ledger, KeyRing) or not isinstance(ledger, Answers):
            raise InvalidInput(f"{type(ledger).__name__}: a service needs a ledger that keeps keys and answers")
        async with open_chat_model(settings) as model, open_limits(settings) as limits, AsyncMemory(parts) as home:
            await home.start()
            service = Service(
                home,
                settings=settings,
                parts=parts,
                keys=ledger,
                answers=ledger,
                answering=partial(_answering, model=model),
                observer=observer,
                key_needed=key_needed,
            )
            service.limits = limits
            await service.start()
            try:
                yield service
            finally:
                await service.aclose()


def _answering(memory: AsyncMemory, *, model: "tuple[Model, ModelSettings] | None") -> Answering:
    if model is None:
        return Notebook(memory)
    return agents.Assistant(memory, model[0], settings=model[1])  # loaded now: without a model nobody needs it
