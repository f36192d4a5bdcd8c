"""From a name and plain values to a model that can be asked, of any provider.

Each provider's SDK takes seconds to import, so only the one that is asked for is: inside the functions.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from pydantic_ai.models import Model

from commonplace.adapters.models.embedder import HostedEmbedder
from commonplace.adapters.models.opening import Missing, Reached, Reaching, open_embedding_model, open_model
from commonplace.domain.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable
from commonplace.domain.extras import needing

LOCAL = {
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
"""Servers of one's own that speak OpenAI's protocol, and where they listen unless a URL is given."""
RENAMED = {"google-gla": "google", "gemini": "google", "google-vertex": "google-cloud"}
"""What older versions of pydantic-ai called them."""


def _openai() -> "Reach":
    from commonplace.adapters.models.openai import reach

    return reach


def _anthropic() -> "Reach":
    from commonplace.adapters.models.anthropic import reach

    return reach


def _cohere() -> "Reach":
    from commonplace.adapters.models.cohere import reach

    return reach


def _google() -> "Reach":
    from commonplace.adapters.models.google import reach

    return reach


def _google_cloud() -> "Reach":
    from commonplace.adapters.models.google import reach_cloud

    return reach_cloud


Reach = Callable[[Reaching], Reached]


@dataclass(frozen=True, slots=True)
class Host:
    """A service whose client we make: how, the extra with its SDK, whose key it takes, and the variable with it."""

    load: Callable[[], Reach]
    extra: str
    key: str | None = None
    variable: str | None = None


OPENAI = Host(_openai, "models", "openai", "OPENAI_API_KEY")
HOSTS: Mapping[str, Host] = {
    **dict.fromkeys([*LOCAL, "openai", "openai-chat", "openai-responses"], OPENAI),
    "anthropic": Host(_anthropic, "models", "anthropic", "ANTHROPIC_API_KEY"),
    "cohere": Host(_cohere, "cohere", "cohere", "CO_API_KEY"),
    "google": Host(_google, "google", "google", "GOOGLE_API_KEY"),
    "google-cloud": Host(_google_cloud, "google"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    base_url: str | None
    keys: Mapping[str, str | None]
    """By the `key` of a host."""
    retries: int
    timeout: float
    """Seconds to wait for an answer."""


def speaks_chat(name: str, base_url: str | None) -> bool:
    """Tell whether it is asked by OpenAI's older protocol, the one that compatible servers speak."""
    kind = name.partition(":")[0]
    return kind in LOCAL or (kind == "openai" and base_url is not None)


@asynccontextmanager
async def opened_model(name: str, access: Access) -> AsyncIterator[Model]:
    """Yield the model, and close its client in the end. Raises ModelUnavailable or InvalidInput."""
    kind, _, model = name.partition(":")
    kind = RENAMED.get(kind, kind)
    if name.endswith(":"):
        raise InvalidInput(f"agent_model={name!r}: expected PROVIDER:MODEL, as openai:gpt-5.2")
    without = "or unset AGENT_MODEL to learn by rules"
    reached = _reach(kind, access, f"agent_model={name!r}", without, ModelUnavailable) if model else None
    async with AsyncExitStack() as stack:
        if reached:
            stack.push_async_callback(reached.close)
        full = f"openai-chat:{model}" if speaks_chat(name, access.base_url) else f"{kind}:{model}" if model else name
        yield open_model(full, reached)


@asynccontextmanager
async def opened_embedder(name: str, access: Access, *, dimensions: int | None) -> AsyncIterator[HostedEmbedder]:
    """Yield the embedder, and close its client in the end. Raises EmbedderUnavailable or InvalidInput."""
    kind, _, model = name.partition(":")
    kind = RENAMED.get(kind, kind)
    compatible = HOSTS.get(kind, OPENAI) is OPENAI and (kind in HOSTS or access.base_url is not None)
    kind = "openai" if compatible and kind not in LOCAL else kind
    without = "or unset EMBEDDING_PROVIDER to embed with the local model"
    what = f"embedding_provider={name.partition(':')[0]!r}"
    reached = _reach(kind, access, what, without, EmbedderUnavailable)
    async with AsyncExitStack() as stack:
        if reached:
            stack.push_async_callback(reached.close)
        opened = open_embedding_model(f"openai:{model}" if compatible else f"{kind}:{model}", reached)
        yield await HostedEmbedder.open(opened, name=name, dimensions=dimensions, tells_apart=not compatible)


def _reach(kind: str, access: Access, what: str, without: str, missing: Missing) -> Reached | None:
    """Return the provider, where it is one whose client we make; pydantic-ai knows how to find the others."""
    host = HOSTS.get(kind)
    if host is None:
        return None
    with needing(host.extra, what, missing):
        reach = host.load()
    key, url = access.keys.get(host.key or ""), access.base_url or LOCAL.get(kind)
    if key is None and url is None and host.variable is not None:
        raise missing(f"no key for {what}: set {host.variable}, {without}")
    return reach(Reaching(key=key or "none", base_url=url, retries=access.retries, timeout=access.timeout))
