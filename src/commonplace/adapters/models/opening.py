"""From a name like `openai:gpt-5.2` to a model. A provider is given where we know its key and address."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from pydantic_ai.embeddings import EmbeddingModel, infer_embedding_model
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider

from commonplace.domain.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable


class Reached(NamedTuple):
    """A provider whose client is ours to close."""

    provider: Provider[Any]
    close: Callable[[], Awaitable[None]]


def open_model(name: str, reached: Reached | None) -> Model:
    """Return the model, of the provider that was reached or, without one, as pydantic-ai knows how.

    Raises InvalidInput for a name that nobody knows, ModelUnavailable where a package or a key is missing.
    """
    kind = name.partition(":")[0]
    try:
        return infer_model(name, lambda kind: reached.provider if reached else infer_provider(kind))
    except ImportError as error:
        raise ModelUnavailable(
            f"agent_model={name!r}: a package is missing: pip install 'pydantic-ai-slim[{kind}]'"
        ) from error
    except (UserError, ValueError) as error:
        raise InvalidInput(f"agent_model={name!r}: {error}") from error


def open_embedding_model(name: str, reached: Reached | None) -> EmbeddingModel:
    """Return the embedding model. Raises InvalidInput or EmbedderUnavailable, as `open_model` does."""
    kind, _, model = name.partition(":")
    try:
        if reached:
            from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

            return OpenAIEmbeddingModel(model, provider=reached.provider)
        return infer_embedding_model(name)
    except ImportError as error:
        raise EmbedderUnavailable(
            f"embedding_provider={kind!r}: a package is missing: pip install 'pydantic-ai-slim[{kind}]'"
        ) from error
    except (UserError, ValueError) as error:
        raise InvalidInput(f"embedding_provider={kind!r}: {error}") from error


def key_for(base_url: str | None, key: str | None, *, variable: str) -> str:
    """Return the key. A server of one's own may want none."""
    if key is None and base_url is None:
        raise ModelUnavailable(f"no key for the language model: set {variable}, or unset AGENT_MODEL to learn by rules")
    return key or "none"
