"""Cohere, or a server that speaks its protocol. Its SDK waits before each retry as long as `Retry-After` says."""

from cohere import AsyncClientV2
from pydantic_ai.providers.cohere import CohereProvider

from commonplace.adapters.models.opening import Reached, Reaching


def reach(given: Reaching) -> Reached:
    client = AsyncClientV2(api_key=given.key, base_url=given.base_url, max_retries=given.retries, timeout=given.timeout)

    async def close() -> None:
        await client.__aexit__(None, None, None)  # type: ignore[no-untyped-call]  # its only way to be closed

    return Reached(CohereProvider(cohere_client=client), close)
