"""From a name like `openai:gpt-5.2` to a model. A provider is given where we know its key and address."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from pydantic_ai.embeddings import EmbeddingModel, infer_embedding_model
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider

from commonplace.domain.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable

Missing = type[ModelUnavailable] | type[EmbedderUnavailable]
"""What is raised where a package or a key is missing."""


class Reaching(NamedTuple):
    """How a provider's client is to be made."""

    key: str | None
    base_url: str | None
    retries: int
    timeout: float
    """Seconds."""


class Reached(NamedTuple):
    """A provider whose client is ours to close."""

    provider: Provider[Any]
    close: Callable[[], Awaitable[None]]


def open_model(name: str, reached: Reached | None) -> Model:
    """Return the model, of the provider that was reached or, without one, as pydantic-ai knows how.

    Raises InvalidInput for a name that nobody knows, ModelUnavailable where a package or a key is missing.
    """
    with _told(f"agent_model={name!r}", name, ModelUnavailable):
        return infer_model(name, lambda kind: reached.provider if reached else infer_provider(kind))


def open_embedding_model(name: str, reached: Reached | None) -> EmbeddingModel:
    """Return the embedding model. Raises InvalidInput or EmbedderUnavailable, as `open_model` does."""
    with _told(f"embedding_provider={name.partition(':')[0]!r}", name, EmbedderUnavailable):
        return infer_embedding_model(
            name, provider_factory=lambda kind: reached.provider if reached else infer_provider(kind)
        )


@contextmanager
def _told(what: str, name: str, missing: Missing) -> Iterator[None]:
    """Say in one sentence what pydantic-ai and the SDKs behind it, each of which has errors of its own, miss."""
    try:
        yield
    except ImportError as error:
        kind = name.partition(":")[0]
        raise missing(f"{what}: a package is missing: pip install 'pydantic-ai-slim[{kind}]'") from error
    except (UserError, ValueError) as error:
        raise InvalidInput(f"{what}: {str(error).partition(' To try Pydantic AI')[0]}") from error
