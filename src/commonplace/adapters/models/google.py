"""Google: the Gemini API, and its models on Google Cloud.

Its SDK takes no notice of `Retry-After`, so the client that it is given does.
"""

import asyncio
from typing import Any

import httpx2
from google.auth.exceptions import GoogleAuthError
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.google_cloud import GoogleCloudProvider

from commonplace.adapters.models.opening import Reached, Reaching
from commonplace.domain.errors import InvalidInput

BUSY = frozenset({408, 429, 500, 502, 503, 504})
LONGEST_WAIT = 60.0
"""Seconds. A service that wants to be left alone for longer is not asked again."""


def reach(given: Reaching) -> Reached:
    http = PatientClient(retries=given.retries, timeout=given.timeout)
    provider = GoogleProvider(api_key=given.key, base_url=given.base_url, http_client=http)
    return Reached(provider, http.aclose)


def reach_cloud(given: Reaching) -> Reached:
    """The account is the one that Google's own tools are logged in with."""
    http = PatientClient(retries=given.retries, timeout=given.timeout)
    try:
        provider = GoogleCloudProvider(base_url=given.base_url, http_client=http)
    except GoogleAuthError as error:
        raise InvalidInput(
            "no account for Google Cloud: run `gcloud auth application-default login`, or name the file of a service "
            "account in GOOGLE_APPLICATION_CREDENTIALS"
        ) from error
    return Reached(provider, http.aclose)


class PatientClient(httpx2.AsyncClient):
    """Asks a busy or unreachable service again, after as long as it says."""

    def __init__(self, *, retries: int, timeout: float) -> None:
        self._retries = retries
        super().__init__(timeout=timeout)

    async def send(self, request: httpx2.Request, **given: Any) -> httpx2.Response:
        for attempt in range(self._retries):
            try:
                response = await super().send(request, **given)
            except httpx2.TransportError:
                await asyncio.sleep(0.5 * (1 << attempt))
                continue
            wait = _wait(response, attempt)
            if response.status_code not in BUSY or wait > LONGEST_WAIT:
                return response
            await response.aclose()
            await asyncio.sleep(wait)
        return await super().send(request, **given)


def _wait(response: httpx2.Response, attempt: int) -> float:
    """Return the seconds that the service asks for; where it gives none, or a date, twice as long each time."""
    try:
        seconds = float(response.headers["retry-after"])
    except (KeyError, ValueError):
        return 0.5 * (1 << attempt)
    return max(0.0, seconds)
