"""What a child process does: it changes the embedding model, and kills itself when it has come to a stage."""

import asyncio
import json
import os
import resource
import signal
import sys
from pathlib import Path

from commonplace import AsyncMemory
from commonplace.domain.errors import CommonplaceError
from tests.care.migration.models import NEW, OLD


async def killed(folder: Path, die_at: str) -> None:
    reached = 0

    def stage(name: str) -> None:
        nonlocal reached
        reached += name == die_at
        if reached == (2 if die_at == "batch" else 1):
            os.kill(os.getpid(), signal.SIGKILL)

    async with AsyncMemory.open(folder, embedder=OLD) as memory:
        memory._migrating._stage = stage
        await memory.migrate_embeddings(to=NEW)
        await memory.discard_embeddings()


async def without_room(folder: Path) -> None:
    """No file may grow: SQLite sees it as it sees a disk that is full."""
    async with AsyncMemory.open(folder, embedder=OLD) as memory:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, most))
        failure = ""
        try:
            await memory.migrate_embeddings(to=NEW)
        except CommonplaceError as error:
            failure = f"{type(error).__name__}: {error}"
        found = [item.text for item in await memory.recall("the violin near the river", user="ana", limit=5)]
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        made = (await memory.embeddings()).aside
        done = await memory.migrate_embeddings(to=NEW)
    sys.stdout.write(
        json.dumps({"failure": failure, "found": found, "switched": done.switched, "began": made is not None})
    )


if __name__ == "__main__":
    asyncio.run(killed(Path(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else without_room(Path(sys.argv[1])))
