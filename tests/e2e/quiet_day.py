"""A day in the life of an embedded memory, for a watcher: add, recall, forget, snapshot, with Chroma and the model."""

import asyncio
import os
import sys
from pathlib import Path

from commonplace import AsyncMemory
from commonplace.adapters.hashing import HashEmbedder


async def main(folder: Path) -> None:
    os.umask(0)  # the worst: whatever is private is private because somebody saw to it
    async with AsyncMemory.open(folder / "memory", index="chroma", embedder=HashEmbedder()) as memory:
        for n in range(20):
            await memory.add(f"I use tool {n}", user="ana", session="s1")
        await memory.recall("tools", user="ana")
        await memory.reindex()
        await memory.snapshot(folder / "backups")
        await memory.forget(user="ana", session="s1")
        await memory.doctor()
        await memory.add("I use Shram", user="ana")
    async with AsyncMemory.open(folder / "other") as memory:
        await memory.add("I use Shram", user="ana")  # with the local model, if it is there


asyncio.run(main(Path(sys.argv[1])))
