"""Which models answer, learn and sum up; rules and the texts' own words where none is named."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from commonplace.domain.errors import ModelUnavailable
from commonplace.domain.extras import needing
from commonplace.ports.extractor import Extractor
from commonplace.ports.summariser import Summariser
from commonplace.wiring.access import access_to

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from commonplace.settings import Settings


@asynccontextmanager
async def open_chat_model(settings: "Settings") -> AsyncIterator["tuple[Model, ModelSettings] | None"]:
    """Yield the model that answers, and how it is to be asked; None where none is named."""
    if settings.agent_model is None:
        yield None
        return
    async with _opened_model(settings, settings.agent_model, retries=settings.agent_retries) as model:
        asked: ModelSettings = {"timeout": settings.agent_timeout, "max_tokens": settings.agent_max_tokens}
        if settings.agent_temperature is not None:
            asked["temperature"] = settings.agent_temperature
        yield model, asked


@asynccontextmanager
async def open_extractor(settings: "Settings") -> AsyncIterator[Extractor | None]:
    """Yield what learns: a model if one is named, else rules; None if nothing is to be learned."""
    if not settings.learn:
        yield None
    elif settings.agent_model is None:
        from commonplace.adapters.rules import RuleExtractor

        yield RuleExtractor()
    else:
        async with _model_extractor(settings, settings.agent_model) as extractor:
            yield extractor


@asynccontextmanager
async def _model_extractor(settings: "Settings", name: str) -> AsyncIterator[Extractor]:
    from commonplace.learning.asking import ask, extract_prompt

    async with _opened_model(settings, name, retries=0) as model:
        from commonplace.adapters.models.extractor import ModelExtractor
        from commonplace.adapters.models.reaching import speaks_chat

        async with ModelExtractor(
            model,
            name=name,
            ask=ask,
            prompt=extract_prompt().version,
            temperature=settings.agent_temperature,
            timeout=settings.agent_timeout,
            max_tokens=settings.agent_max_tokens,
            by_schema=speaks_chat(name, settings.agent_base_url),
        ) as extractor:
            yield extractor


@asynccontextmanager
async def open_summariser(settings: "Settings") -> AsyncIterator[Summariser | None]:
    """Yield the model that sums up; None where none is named, and conversations are summed up by their own words."""
    name = settings.agent_model
    if name is None or not settings.summarise_after:
        yield None
        return
    from commonplace.learning.summarise import ask, summarise_prompt

    async with _opened_model(settings, name, retries=0) as model:
        from commonplace.adapters.models.summariser import ModelSummariser

        async with ModelSummariser(
            model,
            name=name,
            ask=partial(ask, words=settings.summary_tokens * 2 // 3),
            prompt=summarise_prompt().version,
            timeout=settings.agent_timeout,
            max_tokens=settings.agent_max_tokens,
        ) as summariser:
            yield summariser


def _opened_model(settings: "Settings", name: str, *, retries: int) -> AbstractAsyncContextManager["Model"]:
    with needing("models", f"agent_model={name!r}", ModelUnavailable):
        from commonplace.adapters.models.reaching import opened_model
    return opened_model(name, access_to(settings, url=settings.agent_base_url, retries=retries))
