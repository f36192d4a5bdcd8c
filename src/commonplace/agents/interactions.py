"""The interaction form, for a program with a bare SDK: what matters goes into the system prompt, what was said is kept.

Whatever the SDK raises is passed on as it is. Then the user's message is kept, and nothing else.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from commonplace.agents.wires import Piece, Wire
from commonplace.domain.results import Added
from commonplace.domain.values import Json, Recalled
from commonplace.memory import AsyncMemory
from commonplace.sync import Memory

BUDGET = 800
Metadata = Mapping[str, Json]


class Response(NamedTuple):
    reply: str
    prompt: str
    """The system prompt as the model was given it: yours, and what is remembered."""


def enhanced(system_prompt: str, context: str) -> str:
    """Return the prompt with what is remembered after it: the part that stays the same comes first."""
    return "\n\n".join(part for part in (system_prompt, context) if part.strip())


def said_and_replied(user_message: str, reply: str) -> list[dict[str, Json]]:
    exchange: list[dict[str, Json]] = [{"role": "user", "content": user_message}]
    if reply.strip():
        exchange.append({"role": "assistant", "content": reply})
    return exchange


@dataclass
class Interactions:
    """For `openai.OpenAI` or `anthropic.Anthropic`. Without a client it stores and recalls."""

    memory: Memory
    client: object | None = None
    model: str = ""
    user: str | None = None
    session: str | None = None
    budget: int = BUDGET
    last: Response | None = field(default=None, init=False)
    """What `stream` has ended with."""

    def store_interaction(self, user_message: str, reply: str, metadata: Metadata | None = None) -> Added:
        """Keep what the user said and what was replied, and learn from the user's words."""
        exchange = said_and_replied(user_message, reply)
        return self.memory.add(exchange, user=self.user, session=self.session, metadata=metadata)

    def relevant_context(self, message: str, n: int = 5) -> list[Recalled]:
        """Return the n things that matter most for a message; fewer, or none, if fewer matter."""
        return self.memory.recall(message, user=self.user, limit=n)

    def prompt_for(self, message: str, system_prompt: str = "") -> str:
        return enhanced(system_prompt, str(self.memory.context(message, user=self.user, budget=self.budget)))

    def respond(self, message: str, system_prompt: str = "") -> Response:
        """Answer with the model. Returns the reply and the prompt it was given."""
        wire, prompt = Wire.of(self.client, self.model), self.prompt_for(message, system_prompt)
        reply = ""
        try:
            reply = wire.reply(wire.create(message, prompt, stream=False))
        finally:
            self.store_interaction(message, reply)
        return Response(reply, prompt)

    def stream(self, message: str, system_prompt: str = "") -> Iterator[str]:
        """Yield the words of the reply as they come. `last` has the whole of it in the end."""
        wire, prompt = Wire.of(self.client, self.model), self.prompt_for(message, system_prompt)
        pieces: list[Piece] = []
        reply = ""
        try:
            for event in wire.create(message, prompt, stream=True):
                pieces.append(wire.piece(event))
                if pieces[-1].text:
                    yield pieces[-1].text
            reply = wire.whole(pieces)
        finally:
            self.store_interaction(message, reply)
        self.last = Response(reply, prompt)


@dataclass
class AsyncInteractions:
    """For `openai.AsyncOpenAI` or `anthropic.AsyncAnthropic`. Without a client it stores and recalls."""

    memory: AsyncMemory
    client: object | None = None
    model: str = ""
    user: str | None = None
    session: str | None = None
    budget: int = BUDGET
    last: Response | None = field(default=None, init=False)
    """What `stream` has ended with."""

    async def store_interaction(self, user_message: str, reply: str, metadata: Metadata | None = None) -> Added:
        """Keep what the user said and what was replied, and learn from the user's words."""
        exchange = said_and_replied(user_message, reply)
        return await self.memory.add(exchange, user=self.user, session=self.session, metadata=metadata)

    async def relevant_context(self, message: str, n: int = 5) -> list[Recalled]:
        """Return the n things that matter most for a message; fewer, or none, if fewer matter."""
        return await self.memory.recall(message, user=self.user, limit=n)

    async def prompt_for(self, message: str, system_prompt: str = "") -> str:
        return enhanced(system_prompt, str(await self.memory.context(message, user=self.user, budget=self.budget)))

    async def respond(self, message: str, system_prompt: str = "") -> Response:
        """Answer with the model. Returns the reply and the prompt it was given."""
        wire, prompt = Wire.of(self.client, self.model), await self.prompt_for(message, system_prompt)
        reply = ""
        try:
            reply = wire.reply(await wire.create(message, prompt, stream=False))
        finally:
            await self.store_interaction(message, reply)
        return Response(reply, prompt)

    async def stream(self, message: str, system_prompt: str = "") -> AsyncIterator[str]:
        """Yield the words of the reply as they come. `last` has the whole of it in the end."""
        wire, prompt = Wire.of(self.client, self.model), await self.prompt_for(message, system_prompt)
        pieces: list[Piece] = []
        reply = ""
        try:
            async for event in await wire.create(message, prompt, stream=True):
                pieces.append(wire.piece(event))
                if pieces[-1].text:
                    yield pieces[-1].text
            reply = wire.whole(pieces)
        finally:
            await self.store_interaction(message, reply)
        self.last = Response(reply, prompt)
