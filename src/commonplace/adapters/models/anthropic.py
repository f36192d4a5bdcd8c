"""Anthropic, or a server that speaks its protocol. Retries are off: jobs are tried again where it can be seen."""

from anthropic import AsyncAnthropic
from pydantic_ai.providers.anthropic import AnthropicProvider

from commonplace.adapters.models.opening import Reached, key_for


def reach_anthropic(*, key: str | None, base_url: str | None) -> Reached:
    key = key_for(base_url, key, variable="ANTHROPIC_API_KEY")
    client = AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0)
    return Reached(AnthropicProvider(anthropic_client=client), client.close)
