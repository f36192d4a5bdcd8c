"""One request and its answer: values as JSON, problems as the errors they are, and another try where nothing was heard.

What writes carries an Idempotency-Key, so that a second try does not write twice.
"""

import asyncio
import json
import uuid
from collections.abc import Mapping
from typing import Any

import httpx2

from commonplace.domain import errors
from commonplace.domain.addresses import is_server
from commonplace.domain.errors import CommonplaceError, InvalidInput, NotFound, Unavailable
from commonplace.domain.plain import as_json, etag_of

TRIES = 3
PAUSE = 0.2
"""Seconds before the second try; doubled each time."""
READING = frozenset({"/v1/recall", "/v1/context", "/v1/why-not"})


class NotAllowed(CommonplaceError):
    """The service does not let this key do that: it is unknown, or opens something else, or has asked too often."""


class NotOverHTTP(CommonplaceError):
    """It is done where the memory is, not from afar: the message says by what."""


class Asking:
    def __init__(
        self, url: str, *, key: str | None, timeout: float, transport: httpx2.AsyncBaseTransport | None
    ) -> None:
        if not is_server(url):  # not shown: it may hold a password, which would be sent in place of the key
            raise InvalidInput("url: expected http://host:port or https://host:port, and a key only as key=")
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._client = httpx2.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def get(self, path: str, **given: object) -> Any:
        answer = await self.send("GET", path, params=params_of(given))
        return answer.json()

    async def call(self, method: str, path: str, *, params: Mapping[str, object] | None = None, **body: object) -> Any:
        """Ask with a body. What is None is left out."""
        return await self.change(method, path, body, expected=None, params=params)

    async def change(
        self,
        method: str,
        path: str,
        body: Mapping[str, object],
        *,
        expected: object,
        params: Mapping[str, object] | None = None,
    ) -> Any:
        """Ask for a change of what is still as expected; None: whatever it is. Raises Conflict if it is not."""
        content = None if method == "DELETE" else _encoded({k: v for k, v in body.items() if v is not None})
        condition = {} if expected is None else {"If-Match": etag_of(expected)}
        answer = await self.send(method, path, params=params_of(params or {}), content=content, headers=condition)
        return answer.json() if answer.content else None

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | list[str]],
        content: bytes | None = None,
        media_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        headers = {**(headers or {}), **({} if content is None else {"Content-Type": media_type})}
        if method == "POST" and path not in READING:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        safe = method != "PATCH"  # to revise, or to merge a state, twice is to do it twice
        for tried in range(1, TRIES + 1):
            try:
                answer = await self._client.request(method, path, params=params, content=content, headers=headers)
            except httpx2.TransportError as error:
                if tried == TRIES or not safe:
                    raise Unavailable(f"{self._client.base_url}: {type(error).__name__}") from error
                await asyncio.sleep(PAUSE * 2 ** (tried - 1))
            else:
                if answer.status_code >= 400:
                    raise error_of(answer)
                return answer
        raise AssertionError("the last try returns or raises")


def error_of(answer: httpx2.Response) -> CommonplaceError:
    """Return the error that an answer tells of, as the memory itself would raise it."""
    try:
        told = answer.json()
    except ValueError:
        told = {}
    name, detail = str(told.get("error", "")), str(told.get("detail", answer.reason_phrase))
    if answer.status_code in (401, 403, 413, 429):
        return NotAllowed(f"{answer.status_code}: {detail}")
    kind = getattr(errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, CommonplaceError):
        kind = errors.Conflict if answer.status_code in (409, 412) else Unavailable
    error: CommonplaceError = kind.__new__(kind)
    CommonplaceError.__init__(error, detail)
    if isinstance(error, NotFound):
        error.what, error.identifier = "", ""
    return error


def _encoded(body: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(as_json(body), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"expected what JSON can hold: {error}") from None


def params_of(given: Mapping[str, object]) -> dict[str, str | list[str]]:
    """Return arguments as a query takes them. What is None is left out."""
    plain = {name: as_json(value) for name, value in given.items() if value is not None}
    return {
        name: [str(one) for one in value] if isinstance(value, list) else _word(value) for name, value in plain.items()
    }


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
