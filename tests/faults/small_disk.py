"""What a child process does on a disk that is full: it adds until that fails, then room is made, and it goes on."""

import asyncio
import json
import resource
import sys
from pathlib import Path

from commonplace.domain.errors import CommonplaceError
from tests.care.folders import memory_of

ENOUGH = 1_000
MB = 1 << 20


def limit(size: int | None) -> None:
    """Let no file grow beyond that size: SQLite and the system see it as they see a disk without room."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


async def main(folder: Path) -> None:
    kept: list[str] = []
    failures: list[str] = []
    async with memory_of(folder / "memory") as memory:
        kept += (await memory.add("The first", user="ana")).messages
        limit(MB)
        while not failures and len(kept) < ENOUGH:
            try:
                kept += (await memory.add(f"I saw bird {len(kept)} " + "and heard it " * 400, user="ana")).messages
            except CommonplaceError as error:
                failures.append(f"{type(error).__name__}: {error}")
        readable = len(await memory.messages(user="ana", limit=ENOUGH))
        limit(1_000)
        try:
            await memory.snapshot(folder / "backups")
        except CommonplaceError as error:
            failures.append(f"{type(error).__name__}: {error}")
        snapshots = len(await memory.snapshots(folder / "backups"))
        limit(None)
        kept += (await memory.add("After room was made", user="ana")).messages
        again = len((await memory.snapshot(folder / "backups")).parts)
    result = {"kept": kept, "failures": failures, "readable": readable, "snapshots": snapshots, "again": again}
    sys.stdout.write(json.dumps(result))


asyncio.run(main(Path(sys.argv[1])))
