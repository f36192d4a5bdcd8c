"""The way of a request through a proxy: recall, keep what was said, ask, pass the answer on unchanged, keep the reply.

The bytes of a stream are passed on as they come. Only the piece that completes a reply waits until the reply is kept:
clients hang up when they have it.
"""

import json
from collections.abc import Awaitable, Callable, Mapping

import anyio
import httpx2
from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from commonplace.domain.errors import ModelUnavailable
from commonplace.interfaces.http.access import Access
from commonplace.interfaces.http.proxies.events import Events
from commonplace.interfaces.http.proxies.given import Given, given_of
from commonplace.interfaces.http.proxies.remembering import Remembering, remembering_of, told
from commonplace.interfaces.http.proxies.turn import Hearing, Turn, Wire, object_of
from commonplace.interfaces.http.proxies.upstream import Provider, Upstream, returned

Keep = Callable[[str, str], Awaitable[None]]
"""Keeps a complete reply: its text, and its id where it has one."""


async def converse(wire: Wire, provider: Provider, path: str, *, access: Access, request: Request) -> Response:
    """Answer a turn with the service behind, and with memory."""
    service = request.app.state.service
    body = await request.body()
    turn = wire.read(body)
    memory = remembering_of(
        access, request.headers, named=turn.user if turn else None, via=wire.name, day=f"{service.now():%Y-%m-%d}"
    )
    given = given_of(access, provider, memory.user)
    for one in wire.previous_of(turn.body if turn else object_of(body) or {}):
        if given is not None:
            await given.check(one)
    if turn is None or not turn.said.strip() or memory.mode == "off":
        turn, recalled, recorded = None, None, None
    else:
        body, recalled, recorded = await _prepared(wire, memory, turn, body, budget=service.settings.proxy_budget)
    answer = await request.app.state.upstream.ask(
        provider, "POST", _with_query(path, request), headers=request.headers, body=body
    )
    headers = {**returned(answer), **told(memory, recalled=recalled, recorded=recorded)}
    return await _answered(answer, headers, wire=wire, keep=_keeper(memory, turn, given))


async def _prepared(
    wire: Wire, memory: Remembering, turn: Turn, body: bytes, *, budget: int
) -> tuple[bytes, int | None, str | None]:
    """Return what to send, how much of memory is in it, and the id of what was kept."""
    recalled = None
    if memory.reads:
        text, recalled = await memory.recall(turn, budget=budget)
        body = json.dumps(wire.with_memory(turn, text)).encode() if text else body
    return body, recalled, await memory.keep_said(turn) if memory.writes and turn.fresh else None


async def pass_on(
    upstream: Upstream, provider: Provider, path: str, *, request: Request, more: Mapping[str, str] | None = None
) -> Response:
    """Answer with what the service behind says, and nothing else."""
    answer = await upstream.ask(
        provider, request.method, _with_query(path, request), headers=request.headers, body=await request.body()
    )
    return Relayed(answer, {**returned(answer), **(more or {})})


def _with_query(path: str, request: Request) -> str:
    return f"{path}?{request.url.query}" if request.url.query else path


def _keeper(memory: Remembering, turn: Turn | None, given: Given | None) -> Keep | None:
    if given is None and (turn is None or not memory.writes):
        return None

    async def keep(text: str, id_: str) -> None:
        with anyio.CancelScope(shield=True):  # the reply is complete: a client that leaves now has had it
            if given is not None and id_:
                await given.note(id_)
            if turn is not None and memory.writes:
                await memory.keep_reply(turn, text)

    return keep


async def _answered(answer: httpx2.Response, headers: Mapping[str, str], *, wire: Wire, keep: Keep | None) -> Response:
    packed = "content-encoding" in answer.headers  # we asked for none of it, and cannot read along
    if keep is None or answer.status_code != 200 or packed:
        return Relayed(answer, headers)
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        return Relayed(answer, headers, listening=Listening(wire.hearing(), keep))
    return await _whole(answer, headers, wire=wire, keep=keep)


async def _whole(answer: httpx2.Response, headers: Mapping[str, str], *, wire: Wire, keep: Keep) -> Response:
    try:
        content = b"".join([piece async for piece in answer.aiter_raw()])
    except httpx2.HTTPError as error:
        raise ModelUnavailable(f"the service behind this proxy broke off: {type(error).__name__}") from error
    finally:
        await answer.aclose()
    told_all = object_of(content) or {}
    await keep(wire.reply_of(told_all), wire.id_of(told_all))
    return Response(content, status_code=answer.status_code, headers=dict(headers))


class Listening:
    """Reads along, and keeps the reply when it is complete."""

    def __init__(self, hearing: Hearing, keep: Keep) -> None:
        self._hearing, self._keep = hearing, keep
        self._events, self._kept = Events(), False

    async def hear(self, piece: bytes) -> None:
        for data in self._events.feed(piece):
            self._hearing.event(data)
        if self._hearing.complete and not self._kept:
            self._kept = True
            await self._keep(self._hearing.text(), self._hearing.id)


class Relayed(Response):
    """An answer passed on as it comes. It ends when the caller leaves, and breaks off when the service behind does."""

    def __init__(
        self, answer: httpx2.Response, headers: Mapping[str, str], *, listening: Listening | None = None
    ) -> None:
        self._answer, self._listening = answer, listening
        self.status_code, self.background, self.body = answer.status_code, None, b""
        self.raw_headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        broken: httpx2.HTTPError | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_until_left, receive, group.cancel_scope)
                try:
                    await self._pass_on(send)
                except httpx2.HTTPError as error:
                    broken = error
                group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._answer.aclose()
        if broken is not None:
            raise ModelUnavailable(f"the service behind this proxy broke off: {type(broken).__name__}") from broken

    async def _pass_on(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in self._answer.aiter_raw():
            if self._listening is not None:
                await self._listening.hear(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_left(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
