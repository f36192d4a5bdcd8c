"""The Extractor that asks a language model: one structured call through pydantic-ai, any provider.

The provider's own retries are switched off where that can be done: a job that failed is tried again by the worker, who
can be seen.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Self

from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from commonplace.adapters.models.failures import failure, usage_of
from commonplace.adapters.models.reply import Reply
from commonplace.domain.errors import UnreadableReply
from commonplace.domain.values import Message
from commonplace.ports.extractor import Extraction, Said

REPAIRS = 1
"""Times that a model may try again to answer in the agreed shape."""


class ModelExtractor:
    """Use it as `async with`. `ask` makes the prompt for a message, and `prompt` is its version."""

    def __init__(
        self,
        model: Model,
        *,
        name: str,
        ask: Callable[[Said], str],
        prompt: str,
        temperature: float | None = None,
        timeout: float = 60.0,
        max_tokens: int = 1_000,
        by_schema: bool = False,
    ) -> None:
        """`by_schema`: ask for JSON by its schema instead of a tool call, which small local models do better."""
        settings = ModelSettings(timeout=timeout, max_tokens=max_tokens)
        if temperature is not None:
            settings["temperature"] = temperature
        self._name, self._ask, self._prompt = name, ask, prompt
        self._closing = AsyncExitStack()
        self._agent = Agent(
            model,
            output_type=NativeOutput(Reply) if by_schema else Reply,
            retries=REPAIRS,
            model_settings=settings,
        )

    async def __aenter__(self) -> Self:
        await self._closing.enter_async_context(self._agent)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    @property
    def inline(self) -> bool:
        return False

    @property
    def identity(self) -> str:
        return f"{self._name}/{self._prompt}"

    def looks_back(self, message: Message) -> bool:
        return True

    async def extract(self, said: Said) -> Extraction:
        if said.message.role != "user":
            return Extraction()
        spent = RunUsage()
        try:
            answered = await self._agent.run(self._ask(said), usage=spent)
        except UnexpectedModelBehavior as error:
            # Its message quotes the reply, and the reply the message: neither may get into a log.
            raise UnreadableReply(
                f"{self._name} did not answer in the agreed shape, also when asked again", usage=usage_of(spent)
            ) from error
        except AgentRunError as error:
            raise failure(error, name=self._name) from error
        proposals = tuple(found.proposal() for found in answered.output.claims)
        return Extraction(proposals=proposals, usage=usage_of(spent))
