"""The services behind the proxies: where they are, whose key they are shown, and which headers pass either way."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Literal

import httpx2
from starlette.datastructures import Headers

from commonplace.domain.errors import ModelUnavailable
from commonplace.settings import Settings

OURS = "cp_"
"""What our own keys begin with: they never leave this service."""
CREDENTIALS = ("authorization", "x-api-key")
ONE_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade"}
)
NOT_SENT = ONE_HOP | {*CREDENTIALS, "accept-encoding", "content-length", "cookie", "host", "origin", "referer"}
NOT_RETURNED = ONE_HOP | {"date", "server", "set-cookie", "x-request-id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    url: str
    key: str | None = field(repr=False)
    shown_as: Literal["authorization", "x-api-key"]

    def headers(self, given: Headers) -> dict[str, str]:
        """Return what to send on: all but what is between us and the caller. Their own key goes before ours."""
        sent = {
            name: value
            for name, value in given.items()
            if name not in NOT_SENT and not name.startswith(("x-commonplace-", "x-forwarded-"))
        }
        return {**sent, **self._credentials(given), "accept-encoding": "identity"}

    def lends_its_key(self, given: Headers) -> bool:
        """Say whether a request goes out with the operator's key."""
        return self.key is not None and not any(name in given and not _is_ours(given[name]) for name in CREDENTIALS)

    def _credentials(self, given: Headers) -> Mapping[str, str]:
        own = {name: given[name] for name in CREDENTIALS if name in given and not _is_ours(given[name])}
        if own or self.key is None:
            return own
        return {self.shown_as: f"Bearer {self.key}" if self.shown_as == "authorization" else self.key}


def _is_ours(value: str) -> bool:
    return value.rpartition(" ")[2].startswith(OURS)


class Upstream:
    """What the proxies ask. Open for the length of the process."""

    def __init__(self, client: httpx2.AsyncClient, *, openai: Provider, anthropic: Provider) -> None:
        self._client, self.openai, self.anthropic = client, openai, anthropic

    async def ask(
        self, provider: Provider, method: str, path: str, *, headers: Headers, body: bytes
    ) -> httpx2.Response:
        """Return an answer whose body is still to be read, and to be closed. Raises ModelUnavailable."""
        url = provider.url.rstrip("/") + path
        try:
            request = self._client.build_request(method, url, headers=provider.headers(headers), content=body or None)
            return await self._client.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ModelUnavailable(f"the service behind this proxy did not answer: {type(error).__name__}") from error


def returned(answer: httpx2.Response) -> dict[str, str]:
    """Return the headers to pass back."""
    headers = {name: value for name, value in answer.headers.items() if name not in NOT_RETURNED}
    if request_id := answer.headers.get("x-request-id"):
        headers["x-upstream-request-id"] = request_id
    return headers


@asynccontextmanager
async def open_upstream(settings: Settings) -> AsyncIterator[Upstream]:
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # else a line in the log for each request, with its address
    # One client serves all callers: a cookie that one of them is given must not come with another's request.
    cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    timeout = httpx2.Timeout(settings.proxy_timeout, connect=10)
    async with httpx2.AsyncClient(cookies=cookies, timeout=timeout, follow_redirects=False) as client:
        openai, anthropic = settings.openai_api_key, settings.anthropic_api_key
        yield Upstream(
            client,
            openai=Provider(
                url=settings.proxy_openai_url,
                key=openai.get_secret_value() if openai else None,
                shown_as="authorization",
            ),
            anthropic=Provider(
                url=settings.proxy_anthropic_url,
                key=anthropic.get_secret_value() if anthropic else None,
                shown_as="x-api-key",
            ),
        )
