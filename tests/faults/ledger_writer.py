"""What a child process does: it writes to a ledger until it is killed, and says what was acknowledged."""

import asyncio
import itertools
import resource
from multiprocessing.connection import Connection
from pathlib import Path

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.errors import LedgerUnavailable
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId
from commonplace.ports.ledger import Change
from tests.contracts.ledger.values import a_fact, closed, ended, happened, new_message, new_version, said

USER = Scope("faults", "u1")


def learn(name: str) -> Change:
    """Return a message of two passages with a fact that was read out of it."""
    return Change(
        messages=[new_message(f"m-{name}", f"I use {name}", passages=2)],
        versions=[new_version(a_fact(f"f-{name}", f"uses {name}"))],
        sources=[said(f"f-{name}", f"m-{name}")],
        history=[happened("learned", f"f-{name}", message=f"m-{name}")],
        session_ttl=60,
    )


def end(name: str) -> Change:
    """Return the message that ends it: version 1 is closed and version 2 takes its place."""
    return Change(
        messages=[new_message(f"e-{name}", f"I stopped using {name}")],
        closed=[closed(f"f-{name}")],
        versions=[new_version(a_fact(f"f-{name}", f"used {name}", version=2, at=60))],
        sources=[ended(f"f-{name}", f"e-{name}")],
        history=[happened("ended", f"f-{name}", version=2, at=60, message=f"e-{name}")],
        session_ttl=60,
    )


def retract(name: str) -> Change:
    return Change(closed=[closed(f"f-{name}", 2, at=90)], history=[happened("retracted", f"f-{name}", 2, at=90)])


async def live(ledger: SqliteLedger, name: str, *, say: Connection) -> None:
    """Write the whole life of a fact, and say each step when it is durable."""
    for step, change in (("learned", learn(name)), ("ended", end(name)), ("retracted", retract(name))):
        await ledger.write(USER, change)
        say.send((step, name))
        seen = (await ledger.facts_by_id(USER, [FactId(f"f-{name}")]))[FactId(f"f-{name}")]
        if seen.version != (1 if step == "learned" else 2):
            say.send(("not seen", name))


async def write_until_killed(path: Path, name: str, say: Connection) -> None:
    async with SqliteLedger(path) as ledger:
        say.send(("open", ledger.name))
        try:
            for n in itertools.count():
                await asyncio.gather(*(live(ledger, f"{name}-{n}-{k}", say=say) for k in range(3)))
        except LedgerUnavailable as error:
            say.send(("unavailable", str(error)))


def main(path: Path, name: str, say: Connection, file_size_limit: int | None) -> None:
    if file_size_limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_limit, file_size_limit))
    asyncio.run(write_until_killed(path, name, say))
