"""The service under load: many clients on loopback, recalls and adds mixed, every acknowledged write looked for after.

The server is a process of its own, with vectors that are made from the text at once, as if every embedding were cached.
"""

import argparse
import asyncio
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import uvicorn
from numpy.typing import NDArray

from bench.asking import Asking
from bench.material import vector_of
from commonplace import AsyncMemory
from commonplace.interfaces.http.app import create_app
from commonplace.interfaces.http.service import opened_service
from commonplace.interfaces.http.serving import quick_loop
from commonplace.wiring import Location

DIMENSIONS = 384
BATCH = 100
WORDS = [f"word{number}" for number in range(2_000)]
UNLIMITED = "99999999/minute"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.stack([vector_of(text, DIMENSIONS) for text in texts])


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=12))


@dataclass(slots=True)
class Run:
    seconds: list[float] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def serve(folder: Path, port: int) -> None:
    limits = {f"api_limit_{name}": UNLIMITED for name in ("read", "write", "costly")}
    async with opened_service(Location.parse(folder), limits, embedder=embed) as service:
        config = uvicorn.Config(
            create_app(service), port=port, log_config=None, access_log=False, timeout_keep_alive=60
        )
        await uvicorn.Server(config).serve()


async def fill(folder: Path, *, users: int, memories: int) -> None:
    rng, each = random.Random(7), memories // users
    async with AsyncMemory.open(folder, embedder=embed) as memory:
        for user in range(users):
            for start in range(0, each, BATCH):
                said = [{"role": "user", "content": sentence(rng)} for _ in range(min(BATCH, each - start))]
                await memory.add(said, user=f"u{user}", session=f"s{start // BATCH}", learn=False)


@asynccontextmanager
async def running(folder: Path, port: int) -> AsyncIterator[psutil.Process]:
    command = [sys.executable, "-m", "bench.service", "--serve", str(folder), "--port", str(port)]
    process = await asyncio.to_thread(subprocess.Popen, command)
    try:
        for _ in range(600):
            try:
                async with Asking(port) as asking:
                    await asking.get("/healthz")
                break
            except OSError:
                await asyncio.sleep(0.1)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait)


async def one(client: Asking, rng: random.Random, users: int, run: Run) -> None:
    user, began = f"u{rng.randrange(users)}", time.perf_counter()
    writing = rng.random() < 0.2
    body = {"content": sentence(rng), "learn": False} if writing else {"query": sentence(rng)}
    answer = await client.post("/v1/messages" if writing else "/v1/recall", body | {"user": user})
    run.seconds.append(time.perf_counter() - began)
    if answer.status >= 300:
        run.errors.append(f"{answer.status}: {answer.body[:200]!r}")
    elif writing:
        run.written.append((user, answer.json()["messages"][0]))


async def load(port: int, *, clients: int, users: int, seconds: float, pause: float) -> Run:
    """Each client asks, waits for `pause` seconds on average, as people do, and asks again. 0: as fast as it can."""
    run, until = Run(), time.monotonic() + seconds

    async def client(number: int) -> None:
        rng = random.Random(number)
        async with Asking(port) as asking:
            while time.monotonic() < until:
                try:
                    await asyncio.sleep(rng.expovariate(1 / pause) if pause else 0)
                    await one(asking, rng, users, run)
                except (OSError, asyncio.IncompleteReadError) as error:
                    run.errors.append(type(error).__name__)

    await asyncio.gather(*(client(number) for number in range(clients)))
    return run


async def lost(port: int, written: Sequence[tuple[str, str]]) -> int:
    async with Asking(port) as asking:
        found = [(await asking.get(f"/v1/messages/{id_}?user={user}")).status for user, id_ in written]
    return sum(status != 200 for status in found)


async def alone(folder: Path, *, users: int, times: int) -> float:
    """Return the median of a recall by the library, in the same mix of users, with nobody else about."""
    rng, taken = random.Random(3), []
    async with AsyncMemory.open(folder, embedder=embed) as memory:
        for number in range(users):
            await memory.recall(sentence(rng), user=f"u{number}")
        for _ in range(times):
            user, query = f"u{rng.randrange(users)}", sentence(rng)
            began = time.perf_counter()
            await memory.recall(query, user=user)
            taken.append(time.perf_counter() - began)
    return statistics.median(taken)


async def unloaded(port: int, *, users: int, times: int) -> float:
    rng, taken = random.Random(3), []
    async with Asking(port) as asking:
        for number in range(users + times):
            body = {"query": sentence(rng), "user": f"u{number if number < users else rng.randrange(users)}"}
            began = time.perf_counter()
            answer = await asking.post("/v1/recall", body)
            taken.append(time.perf_counter() - began)
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {answer.body!r}")
    return statistics.median(taken[users:])


def processor(process: psutil.Process) -> float:
    """Return the seconds that a process has computed so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def measure(given: argparse.Namespace, folder: Path) -> dict[str, float]:
    await fill(folder, users=given.users, memories=given.memories)
    library = await alone(folder, users=given.users, times=300)
    port = given.port or free_port()
    async with running(folder, port) as process:
        quiet = await unloaded(port, users=given.users, times=300)
        asked = {"clients": given.clients, "users": given.users, "pause": given.pause}
        await load(port, **asked, seconds=given.seconds / 3)
        before, used = process.memory_info().rss, processor(process)
        run = await load(port, **asked, seconds=given.seconds)
        after, used = process.memory_info().rss, processor(process) - used
        missing = await lost(port, run.written)
    times = sorted(run.seconds)
    p95 = times[int(len(times) * 0.95)] if times else 0.0
    return {
        "requests": len(times),
        "requests_per_second": round(len(times) / given.seconds, 1),
        "errors": len(run.errors),
        "writes": len(run.written),
        "writes_lost": missing,
        "library_ms": round(library * 1000, 2),
        "unloaded_ms": round(quiet * 1000, 2),
        "overhead_ms": round((quiet - library) * 1000, 2),
        "median_ms": round(statistics.median(times) * 1000, 2) if times else 0.0,
        "p95_ms": round(p95 * 1000, 2),
        "p95_over_unloaded": round(p95 / quiet, 1),
        "processor_ms_per_request": round(used * 1000 / max(len(times), 1), 2),
        "rss_before_mb": round(before / 1e6),
        "rss_after_mb": round(after / 1e6),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=1.0, help="Seconds between two requests of a client.")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free.")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.serve is not None:
        with asyncio.Runner(loop_factory=quick_loop()) as runner:
            runner.run(serve(given.serve, given.port))
        return
    folder = Path(tempfile.mkdtemp(prefix="commonplace-service-"))
    try:
        for name, value in asyncio.run(measure(given, folder)).items():
            sys.stdout.write(f"{name:26} {value:>12,}\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
