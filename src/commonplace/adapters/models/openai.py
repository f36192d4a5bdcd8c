"""OpenAI, or a server that speaks its protocol. Retries are switched off: jobs are tried again where it can be seen."""

from openai import AsyncOpenAI
from pydantic_ai.providers.openai import OpenAIProvider

from commonplace.adapters.models.opening import Reached, key_for


def reach_openai(*, key: str | None, base_url: str | None) -> Reached:
    key = key_for(base_url, key, variable="OPENAI_API_KEY")
    client = AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0)
    return Reached(OpenAIProvider(openai_client=client), client.close)
