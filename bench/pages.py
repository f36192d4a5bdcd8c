"""How long the web pages take on this machine: `python -m bench.pages`. The user `crowd` has 10,000 facts."""

import asyncio
import socket
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import numpy as np
import typer
import uvicorn
from numpy.typing import NDArray

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId
from commonplace.interfaces.http.app import create_app
from commonplace.interfaces.http.service import Service, opened_service
from commonplace.ports.ledger import Change, Entry, NewVersion
from commonplace.recall.packed import analyse_row, pack
from commonplace.wiring import Location

FACTS, TIMES = 10_000, 15
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TERMS = pack(analyse_row("thing"))
PAGES = (
    "/",
    "/user?user=ana",
    "/facts?user=ana",
    "/playground?user=ana&q=which+tools+do+I+use%3F",
    "/user?user=crowd",
    "/facts?user=crowd",
    "/facts?user=crowd&text=thing+777",
    "/facts?user=crowd&step=100",
    "/facts/lane?user=crowd",
    "/graph?user=crowd",
)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The model is no part of what is measured."""
    return np.full((len(texts), 64), 0.125, dtype=np.float32)


def version(number: int) -> NewVersion:
    at = NOW - timedelta(hours=number)
    fact = Fact(
        id=FactId(f"crowd{number}"),
        text=f"User knows thing {number}",
        said_at=at,
        valid_from=at,
        valid_to=None if number % 3 else at + timedelta(days=2),
        recorded_at=at,
        attribute="" if number % 2 else f"topic {number % 300}",
        value=f"thing {number}",
    )
    return NewVersion(fact=fact, entry=Entry(start=0, stop=len(fact.text), terms=TERMS, vector=None))


async def fill(service: Service) -> None:
    memory = await service.memory("default")
    await memory.add("I use Shram and Magnet as productivity tools. I live in Porto.", user="ana", wait=True)
    for first in range(0, FACTS, 2_000):
        versions = [version(number) for number in range(first, first + 2_000)]
        await service.ledger.write(Scope("default", "crowd"), Change(versions=versions))


async def measure(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        for page in PAGES:
            times = []
            for _ in range(TIMES):
                began = time.perf_counter()
                answer = await client.get(page)
                answer.raise_for_status()
                times.append(1_000 * (time.perf_counter() - began))
            size = len(answer.content) / 1_000
            typer.echo(f"{statistics.median(times):7.1f} ms  (first {times[0]:6.1f})  {size:6.0f} kB  {page}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        many = {f"api_limit_{kind}": "99999999/minute" for kind in ("read", "write", "costly")}
        async with opened_service(Location.parse(Path(folder)), many, embedder=embed) as service:
            await fill(service)
            listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            server = uvicorn.Server(uvicorn.Config(create_app(service), log_config=None, access_log=False))
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            await measure(f"http://127.0.0.1:{listening.getsockname()[1]}")
            server.should_exit = True
            await serving


if __name__ == "__main__":
    asyncio.run(main())
