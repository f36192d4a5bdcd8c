"""Opens a ledger with migrations of a later version, which takes a while."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from commonplace.adapters.postgres import PostgresLedger
from commonplace.adapters.sqlite import SqliteLedger
from commonplace.ports.ledger import Ledger
from tests.faults.killing import Say


def ledger(place: dict[str, Any], migrations: Path) -> AbstractAsyncContextManager[Ledger]:
    url: str | None = place.get("database_url")
    if url is None:
        return SqliteLedger(place["home"] / "ledger.db", migrations=migrations)
    return PostgresLedger(url, migrations=migrations)


def main(say: Say, place: dict[str, Any], migrations: Path) -> None:
    asyncio.run(_main(say, place, migrations))


async def _main(say: Say, place: dict[str, Any], migrations: Path) -> None:
    say()
    async with ledger(place, migrations):
        pass
