"""What a child process does: it changes the embedding model, and kills itself when it has come to a stage."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

from commonplace import AsyncMemory
from commonplace.domain.errors import CommonplaceError
from tests.care.migration.models import NEW, OLD
from tests.faults.room import no_room

Place = dict[str, Any]


async def killed(place: Place, die_at: str) -> None:
    reached = 0

    def stage(name: str) -> None:
        nonlocal reached
        reached += name == die_at
        if reached == (2 if die_at == "batch" else 1):
            os.kill(os.getpid(), signal.SIGKILL)

    async with AsyncMemory.open(**place, embedder=OLD) as memory:
        memory._migrating._stage = stage
        await memory.migrate_embeddings(to=NEW)
        await memory.discard_embeddings()


async def without_room(place: Place) -> str:
    async with AsyncMemory.open(**place, embedder=OLD) as memory:
        failure = ""
        with no_room(place, size=100_000, table="vectors_odd", rows=100):
            try:
                await memory.migrate_embeddings(to=NEW)
            except CommonplaceError as error:
                failure = f"{type(error).__name__}: {error}"
            found = [item.text for item in await memory.recall("the violin near the river", user="ana", limit=5)]
        made = (await memory.embeddings()).aside
        done = await memory.migrate_embeddings(to=NEW)
    return json.dumps({"failure": failure, "found": found, "switched": done.switched, "began": made is not None})


def main(place: Place, stage: str, told: Path) -> None:
    if stage:
        asyncio.run(killed(place, stage))
    else:
        told.write_text(asyncio.run(without_room(place)))
