"""Memories in a folder, with the clock stopped, and what can be read in its files by whoever opens them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.attaching import Attaching
from commonplace.engine.choosing import Choosing
from commonplace.engine.corpora import Corpora
from commonplace.engine.engine import Engine
from commonplace.engine.forgetting import Forgetting
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.wiring import Location, opened

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DIMENSIONS = 64
FEW = 100
"""So many byte strings are looked for one after the other."""


def directions(texts: list[str]) -> NDArray[np.float32]:
    """Return a vector for each text that shares no number with that of another text."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(DIMENSIONS, np.float32) for seed in seeds])


@asynccontextmanager
async def parts_of(home: Path, *, index: str = "exact", now: datetime = NOW, **place: object) -> AsyncIterator[Parts]:
    """`place` is where it is, if not in the folder alone: `**backend.at(folder)` names both."""
    async with opened(Location(), {"home": home, "index": index, **place}, directions) as parts:
        yield replace(parts, now=lambda: now)


@asynccontextmanager
async def memory_of(home: Path, *, index: str = "exact", now: datetime = NOW, **place: object) -> AsyncIterator[Engine]:
    async with parts_of(home, index=index, now=now, **place) as parts, Engine(parts) as memory:
        await memory.start()
        yield memory


def forgetting_of(parts: Parts, stage: Callable[[str], None]) -> Forgetting:
    planner = Planner(parts)
    corpora = Corpora(parts.ledger, budget=parts.options.cache_bytes, make=planner.corpus)
    return Forgetting(parts, corpora, Choosing(parts), planner, attaching=Attaching(parts), stage=stage)


async def settle(memory: Engine) -> None:
    """Wait until the index has everything, so that there is something to erase from its files."""
    while any(one.waiting for one in (await memory.stats()).partitions):  # noqa: ASYNC110 - the projector tells nobody
        await asyncio.sleep(0.05)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def forms(words: Iterable[str]) -> list[bytes]:
    """Return how words may be written: in UTF-8 and UTF-16, as they are and in lower case."""
    spelled = {form for word in words for form in (word, word.lower())}
    return [form.encode(encoding) for form in sorted(spelled) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]


def traces(folder: Path | Mapping[str, bytes], needles: Iterable[bytes]) -> list[tuple[str, bytes]]:
    """Return where they are found, in a folder or in what was read of it."""
    held, wanted = contents(folder) if isinstance(folder, Path) else folder, list(needles)
    return [(name, needle) for name, data in held.items() for needle in likely(data, wanted) if needle in data]


def likely(data: bytes, needles: Sequence[bytes]) -> list[bytes]:
    """Return the needles whose first eight bytes are somewhere: looking for each of 10,000 would take minutes."""
    if len(needles) < FEW:
        return list(needles)
    heads = np.unique(np.frombuffer(b"".join(one[:8] for one in needles if len(one) >= 8), "<u8"))
    found: set[int] = set()
    for shift in range(8):
        words = np.frombuffer(data, "<u8", count=max(0, len(data) - shift) // 8, offset=min(shift, len(data)))
        places = np.minimum(np.searchsorted(heads, words), len(heads) - 1)
        found.update(words[heads[places] == words].tolist())
    return [one for one in needles if len(one) < 8 or int.from_bytes(one[:8], "little") in found]


def pieces(vectors: Iterable[bytes]) -> list[bytes]:
    """Return a part of each vector, long enough to be nobody else's."""
    return [vector[64:88] for vector in vectors]
