"""A process that has children which feed a Chroma folder, and kills each with SIGKILL at a random moment.

It imports everything before it forks, and has no thread then: starting Python and chromadb for each child would take a
minute. A child that crashes does not take the tests with it.
"""

import asyncio
import itertools
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import commonplace.adapters.chroma.folder
from commonplace.adapters.chroma.index import ChromaIndex, Embedded
from commonplace.adapters.chroma.store import HNSW
from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Change, Entry, NewMessage, NewVersion, Vector
from commonplace.recall.projector import Projector, collection_name, delivery
from tests.contracts.ledger.values import a_fact, a_message, closed

assert commonplace.adapters.chroma.folder

USER = Scope("faults", "u1")
COLLECTION = "cp-faults-1"


def a_direction(name: str) -> Vector:
    vector = np.random.default_rng([*name.encode()]).standard_normal(32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def an_entry(name: str) -> Entry:
    return Entry(start=0, stop=1, terms=b"", vector=a_direction(name))


def said(name: str) -> Change:
    """Return two messages and a fact."""
    return Change(
        messages=[NewMessage(message=a_message(f"{name}{k}"), entries=(an_entry(f"{name}{k}"),)) for k in "ab"],
        versions=[NewVersion(fact=a_fact(f"f{name}"), entry=an_entry(f"f{name}"))],
    )


async def lost_rows(ledger: SqliteLedger, index: ChromaIndex) -> list[int]:
    """Return the rows on which index and ledger disagree: by number, or because a search does not find them."""
    rows = delivery(await ledger.feed(USER)).vectors
    collection = collection_name(ledger.name, (await ledger.versions(USER)).number)
    lost = sorted(await index.numbers(collection) ^ rows.keys())
    for n in {*sorted(rows)[-100:], *random.sample(sorted(rows), min(200, len(rows)))}:
        if [row.n for row in await index.search(collection, rows[n], limit=1)] != [n]:
            lost.append(n)
    return lost


async def live(folder: Path, name: str, say: int) -> None:
    async with SqliteLedger(folder / "ledger.db") as ledger, ChromaIndex(Embedded(folder / "chroma")) as index:
        projector = Projector(ledger, index, batch=16)
        await projector.settle(USER)
        rows = (await ledger.versions(USER)).rows
        lost = await lost_rows(ledger, index) if rows else []
        os.write(say, json.dumps({"owned": index.owned, "rows": rows, "lost": lost}).encode() + b"\n")
        for n in itertools.count():
            for k in range(6):
                await ledger.write(USER, said(f"{name}-{n}-{k}"))
            await ledger.write(USER, Change(closed=[closed(f"f{name}-{n}-0")]))
            await projector.settle(USER)


def child(folder: Path, name: str) -> tuple[int, int]:
    """Return its process id and what it says."""
    hear, say = os.pipe()
    if process := os.fork():
        os.close(say)
        return process, hear
    os.close(hear)
    # The more often Chroma rewrites its vector files, the more kills hit it there.
    HNSW.update({"sync_threshold": 48, "batch_size": 16})
    asyncio.run(live(folder, name, say))
    os._exit(0)


async def hold(folder: Path) -> None:
    """Own the folder until killed."""
    async with ChromaIndex(Embedded(folder / "chroma")) as index:
        await index.upsert(COLLECTION, {n: a_direction(str(n)) for n in range(20)})
        print(json.dumps({"owned": index.owned}), flush=True)  # noqa: T201
        await asyncio.Event().wait()


def kill_children(folder: Path, kills: int, seed: int) -> None:
    """Print what each child found when it had caught up, and how it ended if it never got that far."""
    moments = random.Random(seed)
    for kill in range(kills):
        process, hear = child(folder, f"r{kill}")
        with os.fdopen(hear) as said:
            report = said.readline()
            time.sleep(moments.uniform(0.0, 0.3))
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
        print(report.strip() or json.dumps({"died": os.waitstatus_to_exitcode(status)}), flush=True)  # noqa: T201


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["hold", folder]:
            asyncio.run(hold(Path(folder)))
        case ["kill", folder, kills, seed]:
            kill_children(Path(folder), int(kills), int(seed))
