"""From a name and plain values to a model that can be asked, of any provider.

Each provider's SDK takes seconds to import, so only the one that is asked for is: inside the functions.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from pydantic_ai.models import Model

from commonplace.adapters.models.embedder import HostedEmbedder
from commonplace.adapters.models.opening import Reached, open_embedding_model, open_model

LOCAL = {
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
"""Servers of one's own that speak OpenAI's protocol, and where they listen unless a URL is given."""
OPENAI = ("openai", "openai-chat", "openai-responses")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    base_url: str | None
    keys: Mapping[str, str | None]
    """By provider."""
    retries: int


def speaks_chat(name: str, base_url: str | None) -> bool:
    """Tell whether it is asked by OpenAI's older protocol, the one that compatible servers speak."""
    kind = name.partition(":")[0]
    return kind in LOCAL or (kind == "openai" and base_url is not None)


@asynccontextmanager
async def opened_model(name: str, access: Access) -> AsyncIterator[Model]:
    """Yield the model, and close its client in the end. Raises ModelUnavailable or InvalidInput."""
    reached = _reach(name, access)
    full = f"openai-chat:{name.partition(':')[2]}" if speaks_chat(name, access.base_url) else name
    async with AsyncExitStack() as stack:
        if reached:
            stack.push_async_callback(reached.close)
        yield open_model(full, reached)


@asynccontextmanager
async def opened_embedder(name: str, access: Access, *, dimensions: int | None) -> AsyncIterator[HostedEmbedder]:
    """Yield the embedder, and close its client in the end. Raises EmbedderUnavailable or InvalidInput."""
    kind = name.partition(":")[0]
    compatible = kind in LOCAL or kind == "openai" or access.base_url is not None
    reached = _reach(name if kind in LOCAL else "openai:", access) if compatible else None
    async with AsyncExitStack() as stack:
        if reached:
            stack.push_async_callback(reached.close)
        yield await HostedEmbedder.open(open_embedding_model(name, reached), name=name, dimensions=dimensions)


def _reach(name: str, access: Access) -> Reached | None:
    """Return the provider, where it is one whose key we have; pydantic-ai knows how to find the others."""
    kind = name.partition(":")[0]
    url = access.base_url or LOCAL.get(kind)
    if kind in LOCAL or kind in OPENAI:
        from commonplace.adapters.models.openai import reach_openai

        return reach_openai(key=access.keys.get("openai"), base_url=url, retries=access.retries)
    if kind == "anthropic":
        from commonplace.adapters.models.anthropic import reach_anthropic

        return reach_anthropic(key=access.keys.get("anthropic"), base_url=url, retries=access.retries)
    return None
