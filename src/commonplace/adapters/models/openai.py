"""OpenAI, or a server that speaks its protocol. Its SDK waits before each retry as long as `Retry-After` says."""

from openai import AsyncOpenAI
from pydantic_ai.providers.openai import OpenAIProvider

from commonplace.adapters.models.opening import Reached, key_for


def reach_openai(*, key: str | None, base_url: str | None, retries: int) -> Reached:
    key = key_for(base_url, key, variable="OPENAI_API_KEY")
    client = AsyncOpenAI(api_key=key, base_url=base_url, max_retries=retries)
    return Reached(OpenAIProvider(openai_client=client), client.close)
