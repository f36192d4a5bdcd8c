"""migrate: everything from one ledger into another, of whichever engines; then both are read again and compared.

Run again after it was broken off, it goes on: what is there already is left as it is. Until both sides agree the target
does not open as a memory.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from datetime import datetime

from commonplace.care.tally import Tally, named
from commonplace.domain.archive import UNFINISHED, FilePiece, Held, OfTenant, OfUser, Opened, Record
from commonplace.domain.errors import Conflict, InvalidInput, StoreUnavailable
from commonplace.domain.moves import Moved
from commonplace.domain.progress import Progress
from commonplace.domain.scope import Scope
from commonplace.domain.values import AttachmentId
from commonplace.engine.attaching import Attaching
from commonplace.engine.parts import Parts
from commonplace.engine.pieces import Pieces, with_files
from commonplace.engine.restoring import NONE, is_empty, written
from commonplace.ports.ledger import Ledger

BATCH = 512
"""Records in one transaction."""
NAMED = 5
"""So many users are named when they differ; of the others, how many there are."""


async def ready(source: Ledger, name: str, *, now: datetime, in_use: bool) -> None:
    """Raise InvalidInput for a source that is not whole, and Conflict while another process says that it has it open.

    `in_use` lets the others be. It is asked before there is a target: a move that is refused leaves nothing behind.
    """
    embedder = await source.embedder_identity()
    if embedder is not None and embedder.startswith(UNFINISHED):
        raise InvalidInput(f"{name} is not whole ({embedder}); run that to its end first")
    for lease in [] if in_use else await source.leases(now=now):
        raise Conflict(
            f"{name} is in use by {lease.holder} ({lease.duty}): stop every process that uses it. "
            f"If that one was killed, wait until {lease.until:%H:%M:%S} UTC, or say --in-use"
        )


class Moving:
    def __init__(self, source: Parts, target: Parts, *, names: tuple[str, str], without_lost: bool = False) -> None:
        """`names` are what the caller calls the two; `without_lost` takes messages whose file is not there, too."""
        self._source, self._target = source.ledger, target.ledger
        self._files, self._kept = Attaching(source), Attaching(target)
        self._pieces, self._users = Pieces(self._kept), set[Scope]()
        self._from, self._to = names
        self._without_lost, self._lost = without_lost, 0

    async def move(self, *, progress: Progress) -> Moved:
        """Move all of a source that is `ready`.

        Raises InvalidInput for a target that holds something else, Conflict for a source that changes, and
        StoreUnavailable where the file of a message is not there.
        """
        if self._source.name == self._target.name:
            raise InvalidInput(f"{self._from} and {self._to} are one database; expected two")
        embedder = await self._source.embedder_identity()
        before = await _tally(self._source, "Counting", progress, passages=False)
        if (there := await self._arrived(embedder, before, progress)) is not None:
            return self._moved(there, resumed=True)
        resumed = await self._begin()
        mark = self._mark
        sent = await self._send(before.records, progress)
        for scope in self._users if resumed else ():  # what came before, and was forgotten at the source since
            await self._kept.sweep(scope)
        arrived = await _tally(self._target, "Comparing", progress, total=sent.records)
        if different := sent.differing(arrived):
            raise Conflict(
                f"{self._to} does not hold what {self._from} holds: {_listed(different)} differ. If the source was "
                "changed since an earlier run was broken off, begin again with an empty target"
            )
        after = await _tally(self._source, "Looking for changes", progress, total=before.records, passages=False)
        if different := before.differing(after):
            raise Conflict(
                f"{self._from} was written to while it was moved: {_listed(different)}. Stop every process that uses "
                "it, and begin again with an empty target"
            )
        for place in await self._source.snapshot_places():
            await self._target.add_snapshot_place(place, latest="latest")
        await self._target.set_embedder_identity(embedder or NONE, replacing=mark)
        return self._moved(sent, resumed=resumed)

    def _moved(self, sent: Tally, *, resumed: bool) -> Moved:
        return Moved(
            source=self._from,
            target=self._to,
            counts=dict(sent.counts),
            users=sent.users,
            sha256=sent.sha256(),
            resumed=resumed,
            lost_files=self._lost,
        )

    async def _arrived(self, embedder: str | None, before: Tally, progress: Progress) -> Tally | None:
        """Return what is there, if that is all of it: a run before this one was killed after its last step."""
        if before.records == 0 or await self._target.embedder_identity() != (embedder or NONE):
            return None
        if before.differing(await _tally(self._target, "Comparing", progress, passages=False)):
            return None
        sent = await _tally(self._source, "Counting", progress)
        there = await _tally(self._target, "Comparing", progress, total=sent.records)
        return None if sent.differing(there) else sent

    @property
    def _mark(self) -> str:
        return f"{UNFINISHED} a move from {self._from}, ledger {self._source.name}"

    async def _begin(self) -> bool:
        """Mark the target as one that is being filled. Returns whether it was already, by a run before this one."""
        known = await self._target.embedder_identity() or ""
        begun = known.startswith(UNFINISHED)
        resumed = begun and known.endswith(f"ledger {self._source.name}")  # a place may be named in several ways
        if begun and not resumed:
            raise InvalidInput(f"{self._to} holds a part of something else ({known}); expected an empty one")
        if not resumed and not await is_empty(self._target):
            raise InvalidInput(f"{self._to} holds something already; expected an empty one")
        await self._target.set_embedder_identity(self._mark, replacing=known or None)
        return resumed

    async def _send(self, total: int, progress: Progress) -> Tally:
        tally, scope = Tally(), Scope("")
        async with aclosing(self._source.read_archive()) as batches:
            async for batch in with_files(batches, self._source, self._files, self._refuse_lost):
                records = [record for record in batch if not isinstance(record, FilePiece)]
                for record in batch:
                    if isinstance(record, FilePiece):
                        await self._pieces.take(scope, record)
                await asyncio.to_thread(tally.add, records)
                scope = await self._write(records, scope)
                progress("Moving", tally.records, total)
        return tally

    def _refuse_lost(self, scope: Scope, id_: AttachmentId) -> None:
        if not self._without_lost:
            raise StoreUnavailable(
                f"{self._from}: attachment {id_} of {named(scope)} has no file in {self._files.place}: say where its "
                "attachments are (attachments_to, or home), and run it again. If it is lost, say --without-lost-files"
            )
        self._lost += 1

    async def _write(self, batch: Sequence[Record], scope: Scope) -> Scope:
        """Write records as those of whoever the marks between them name. Returns whose come next."""
        held: list[Held] = []
        for record in batch:
            match record:
                case Opened():
                    continue
                case OfTenant(tenant=tenant):
                    await self._flush(scope, held)
                    scope, held = Scope(tenant), []
                case OfUser(user=user, embedder=embedder):
                    await self._flush(scope, held)
                    scope, held = Scope(scope.tenant, user), []
                    self._users.add(scope)
                    if embedder is not None:
                        await self._target.set_own_model(scope, embedder)
                case _:
                    held.append(record)
        await self._flush(scope, held)
        return scope

    async def _flush(self, scope: Scope, held: Sequence[Held]) -> None:
        for start in range(0, len(held), BATCH):
            await written(self._target, scope, held[start : start + BATCH])


async def _tally(
    ledger: Ledger, what: str, progress: Progress, *, total: int | None = None, passages: bool = True
) -> Tally:
    tally = Tally()
    async with aclosing(ledger.read_archive(passages=passages)) as batches:
        async for batch in batches:
            await asyncio.to_thread(tally.add, batch)
            progress(what, tally.records, total)
    return tally


def _listed(users: Sequence[str]) -> str:
    more = len(users) - NAMED
    return ", ".join(users[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
