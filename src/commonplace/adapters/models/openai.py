"""OpenAI, or a server that speaks its protocol. Its SDK waits before each retry as long as `Retry-After` says."""

from openai import AsyncOpenAI
from pydantic_ai.providers.openai import OpenAIProvider

from commonplace.adapters.models.opening import Reached, Reaching


def reach(given: Reaching) -> Reached:
    client = AsyncOpenAI(api_key=given.key, base_url=given.base_url, max_retries=given.retries, timeout=given.timeout)
    return Reached(OpenAIProvider(openai_client=client), client.close)
