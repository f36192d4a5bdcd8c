"""An HTTP client that does next to nothing: what is measured is the service, not the client beside it on two cores."""

import asyncio
import json
from types import TracebackType
from typing import Any, NamedTuple, Self


class Answered(NamedTuple):
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Asking:
    """One connection that is kept. Use it as `async with`; it is opened by the first request."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def post(self, path: str, body: object) -> Answered:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        return await self._ask(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)

    async def get(self, path: str) -> Answered:
        return await self._ask(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())

    async def _ask(self, request: bytes) -> Answered:
        if self._reader is None or self._writer is None or self._reader.at_eof():  # a service lets go of who pauses
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        return Answered(int(head[9:12]), await self._reader.readexactly(length))
