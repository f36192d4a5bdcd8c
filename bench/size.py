"""What an item takes: bytes on disk and in RAM, each store in a process of its own."""

import json
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench import child
from bench.figures import Figure, Section
from bench.material import Reader
from bench.ours import fill, opening
from bench.rivals import Chroma, chroma
from bench.scale import Bench

NAME = "size"
USERS = 10
WITH, WITHOUT = "Commonplace, with the vectors of tokens", "Commonplace, without"
OURS = (WITH, WITHOUT)
"""As with the local model, which shows its tokens; and as with a hosted one, which does not."""


async def run(bench: Bench) -> Section:
    held, material = bench.scale.items, bench.material
    folders = {who: bench.folder / NAME / who for who in OURS}
    theirs = bench.folder / NAME / "chroma"
    bench.say(f"size: {held:,} items in each store")
    for who, folder in folders.items():
        async with opening(folder, material, embedder=Reader(material) if who == WITH else None) as memory:
            await fill(memory, material, [(str(user), range(user, held, USERS)) for user in range(USERS)])
    collection = Chroma(chroma(theirs), "all")
    collection.load(
        range(held), material.vectors[:held], material.texts[:held], [{"user": n % USERS} for n in range(held)]
    )
    bench.say("size: RAM of a new process")
    dimensions = bench.scale.dimensions
    in_ram = {
        f"{who}: every user's rows": _grown(child.command(child.ram_of_ours, folder, dimensions, USERS, who == WITH))
        for who, folder in folders.items()
    }
    in_ram["Chroma: collection in use"] = _grown(child.command(child.ram_of_chroma, theirs, dimensions))
    each = partial(Figure, section=NAME, unit="bytes")
    text = sum(len(text) for text in material.texts[:held]) / held
    figures = [
        *(each(case="disk per item", who=who, value=_bytes(folder) / held) for who, folder in folders.items()),
        each(case="disk per item", who="Chroma", value=_bytes(theirs) / held),
        each(case="disk per item", who="text and vector alone (floor)", value=text + 4 * dimensions),
        *(each(case="RAM per item", who=who, value=grown / held) for who, grown in in_ram.items()),
        each(case="RAM per item", who="vector alone (floor)", value=4 * dimensions),
    ]
    return Section(name=NAME, title=f"size: {held:,} items of {USERS} users", figures=tuple(figures))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _grown(words: Sequence[str]) -> float:
    """Return by how many bytes the process grew."""
    said = subprocess.run(words, cwd=child.ROOT, check=True, capture_output=True).stdout
    ram: dict[str, float] = json.loads(said)
    return ram["after"] - ram["before"]
