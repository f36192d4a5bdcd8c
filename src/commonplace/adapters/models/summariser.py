"""The Summariser that asks a language model: one call for plain prose through pydantic-ai, any provider."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Self

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from commonplace.adapters.models.failures import failure, usage_of
from commonplace.domain.errors import UnreadableReply
from commonplace.domain.values import Message
from commonplace.ports.summariser import SummedUp


class ModelSummariser:
    """Use it as `async with`. `ask` makes the prompt for a stretch, and `prompt` is its version."""

    def __init__(
        self,
        model: Model,
        *,
        name: str,
        ask: Callable[[Sequence[Message]], str],
        prompt: str,
        timeout: float = 60.0,
        max_tokens: int = 1_000,
    ) -> None:
        self._name, self._ask, self._prompt = name, ask, prompt
        self._closing = AsyncExitStack()
        self._agent = Agent(
            model, output_type=str, retries=0, model_settings=ModelSettings(timeout=timeout, max_tokens=max_tokens)
        )

    async def __aenter__(self) -> Self:
        await self._closing.enter_async_context(self._agent)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    @property
    def identity(self) -> str:
        return f"{self._name}/{self._prompt}"

    async def summarise(self, messages: Sequence[Message]) -> SummedUp:
        spent = RunUsage()
        try:
            answered = await self._agent.run(self._ask(messages), usage=spent)
        except AgentRunError as error:
            raise failure(error, name=self._name) from error
        if not answered.output.strip():
            raise UnreadableReply(f"{self._name} gave an empty summary", usage=usage_of(spent))
        return SummedUp(text=answered.output.strip(), usage=usage_of(spent))
