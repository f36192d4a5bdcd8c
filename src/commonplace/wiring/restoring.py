"""Where a snapshot is brought back to: a folder appears under its name only when all of it is there and compared."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from commonplace.domain.errors import InvalidInput
from commonplace.domain.progress import Progress
from commonplace.domain.snapshots import Restored
from commonplace.engine.attaching import Attaching
from commonplace.engine.choosing import Choosing
from commonplace.engine.corpora import Corpora
from commonplace.engine.erasure_log import ErasureLog
from commonplace.engine.forgetting import Forgetting
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.engine.restoring import Restoring
from commonplace.engine.snapshotting import Shelf
from commonplace.wiring.attachments import open_attachment_seal, open_attachments
from commonplace.wiring.ledgers import open_ledger
from commonplace.wiring.location import Location, reachable
from commonplace.wiring.opening import options_of
from commonplace.wiring.stores import open_seal, open_store

if TYPE_CHECKING:
    from commonplace.settings import Settings


async def restored(
    source: str, into: Location, overrides: Mapping[str, object], *, name: str, progress: Progress
) -> Restored:
    if into.home is None:
        return await _fill(source, into, overrides, name=name, progress=progress)
    target = reachable(into.home.absolute())
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(f"into={str(target)!r}: is there already; expected a new or an empty folder")
    unfinished = target.with_name(f".{target.name}.{uuid4().hex[:8]}.restoring")
    try:
        done = await _fill(source, Location(home=unfinished), overrides, name=name, progress=progress)
        await asyncio.to_thread(_appear, unfinished, target)
    finally:
        await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)
    return Restored(name=done.name, into=str(target), counts=done.counts, erased=done.erased, notes=done.notes)


def _appear(unfinished: Path, target: Path) -> None:
    if target.exists():
        target.rmdir()
    unfinished.rename(target)


async def _fill(
    source: str, into: Location, overrides: Mapping[str, object], *, name: str, progress: Progress
) -> Restored:
    from commonplace.settings import Settings

    settings = Settings.from_sources(**{**overrides, **into.settings()})
    store = open_store(settings, source)
    shelf = Shelf(store, open_seal(settings))
    snapshot = await shelf.get(name)  # before a database is given tables for it
    async with ledger_only(settings, in_process=into.in_process) as parts:
        planner = Planner(parts)
        corpora = Corpora(parts.ledger, budget=0, make=planner.corpus)
        attaching = Attaching(parts)
        forgetting = Forgetting(parts, corpora, Choosing(parts), planner, attaching=attaching)
        done = await Restoring(parts, forgetting, attaching).restore(
            shelf, snapshot, ErasureLog(store), into=str(into), progress=progress
        )
        await parts.ledger.add_snapshot_place(store.place, latest=snapshot.name)
        return done


@asynccontextmanager
async def ledger_only(
    settings: "Settings", *, in_process: bool = False, existing: bool = False
) -> AsyncIterator[Parts]:
    """Open a ledger, and the files beside it, that are to be filled or emptied: nothing is embedded or indexed.

    `existing` makes none where there is none.
    """
    from commonplace.adapters.hashing import HashEmbedder

    async with open_ledger(settings, in_process=in_process, existing=existing) as ledger:
        yield Parts(
            ledger=ledger,
            embedder=HashEmbedder(dimensions=8),
            index=None,
            extractor=None,
            options=options_of(settings),
            open_store=partial(open_store, settings),
            seal=open_seal(settings),
            attachments=open_attachments(settings, in_process=in_process),
            attachment_seal=open_attachment_seal(settings),
        )
