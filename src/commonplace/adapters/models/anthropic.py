"""Anthropic, or a server that speaks its protocol. Its SDK waits before each retry as long as `Retry-After` says."""

from anthropic import AsyncAnthropic
from pydantic_ai.providers.anthropic import AnthropicProvider

from commonplace.adapters.models.opening import Reached, Reaching


def reach(given: Reaching) -> Reached:
    client = AsyncAnthropic(
        api_key=given.key, base_url=given.base_url, max_retries=given.retries, timeout=given.timeout
    )
    return Reached(AnthropicProvider(anthropic_client=client), client.close)
