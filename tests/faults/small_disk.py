"""What a child process does on a disk that is full: it adds until that fails, then room is made, and it goes on."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from commonplace.domain.errors import CommonplaceError
from tests.care.folders import memory_of
from tests.faults.room import files_up_to, filled

ENOUGH = 1_000
MB = 1 << 20


async def main(place: dict[str, Any], backups: Path, disk: Path | None = None) -> None:
    """`disk` is that of a server; without one, the files of this process are what cannot grow."""
    kept: list[str] = []
    failures: list[str] = []
    async with memory_of(**place) as memory:
        kept += (await memory.add("The first", user="ana")).messages
        with filled(disk) if disk else files_up_to(MB):
            while not failures and len(kept) < ENOUGH:
                try:
                    kept += (await memory.add(f"I saw bird {len(kept)} " + "and heard it " * 400, user="ana")).messages
                except CommonplaceError as error:
                    failures.append(f"{type(error).__name__}: {error}")
            readable = len(await memory.messages(user="ana", limit=ENOUGH))
        with files_up_to(1_000):
            try:
                await memory.snapshot(backups)
            except CommonplaceError as error:
                failures.append(f"{type(error).__name__}: {error}")
            snapshots = len(await memory.snapshots(backups))
        kept += (await memory.add("After room was made", user="ana")).messages
        again = len((await memory.snapshot(backups)).parts)
    result = {"kept": kept, "failures": failures, "readable": readable, "snapshots": snapshots, "again": again}
    sys.stdout.write(json.dumps(result))


asyncio.run(main(json.loads(sys.argv[1]), *map(Path, sys.argv[2:])))
