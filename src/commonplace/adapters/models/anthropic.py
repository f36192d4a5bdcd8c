"""Anthropic, or a server that speaks its protocol. Its SDK waits before each retry as long as `Retry-After` says."""

from anthropic import AsyncAnthropic
from pydantic_ai.providers.anthropic import AnthropicProvider

from commonplace.adapters.models.opening import Reached, key_for


def reach_anthropic(*, key: str | None, base_url: str | None, retries: int) -> Reached:
    key = key_for(base_url, key, variable="ANTHROPIC_API_KEY")
    client = AsyncAnthropic(api_key=key, base_url=base_url, max_retries=retries)
    return Reached(AnthropicProvider(anthropic_client=client), client.close)
