"""restore: a snapshot into an empty ledger, compared with its manifest; then every erasure that came after it.

Run again after it was broken off, it goes on. Until all is done the ledger does not open as a memory.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing

from commonplace.care.lines import Ended, Line, record_of
from commonplace.care.tally import named
from commonplace.domain.archive import NAMES, UNFINISHED, FilePiece, Held, OfTenant, OfUser, Opened, Written
from commonplace.domain.errors import InvalidInput, NotFound, OnHold, SnapshotCorrupt
from commonplace.domain.progress import Progress
from commonplace.domain.scope import Scope
from commonplace.domain.snapshots import Restored, Snapshot
from commonplace.engine.attaching import Attaching
from commonplace.engine.erasure_log import ErasureLog, Logged
from commonplace.engine.forgetting import Forgetting
from commonplace.engine.parts import Parts
from commonplace.engine.pieces import Pieces
from commonplace.engine.snapshotting import Shelf
from commonplace.ports.ledger import Ledger

BATCH = 512
NONE = "none"
"""Of a snapshot without vectors: whoever opens it puts its own name there."""


class Restoring:
    def __init__(self, parts: Parts, forgetting: Forgetting, attaching: Attaching) -> None:
        self._parts, self._ledger, self._forgetting, self._attaching = parts, parts.ledger, forgetting, attaching

    async def restore(
        self, shelf: Shelf, snapshot: Snapshot, log: ErasureLog, *, into: str, progress: Progress
    ) -> Restored:
        """Fill the ledger, and apply what was forgotten since. Raises SnapshotCorrupt if it is not what was saved."""
        filling, forgetting = _marks(snapshot)
        known = await self._begin(filling, forgetting)
        if known != forgetting:
            await self._fill(shelf, snapshot, progress, resumed=known == filling)
            await self._ledger.set_embedder_identity(forgetting, replacing=filling)
        await self._forgetting.complete()
        later = await log.later_than(frozenset(snapshot.erasures))
        for number, logged in enumerate(later):
            progress("Forgetting what was forgotten since", number, len(later))
            await self._forget_again(logged)
        await self._ledger.set_embedder_identity(snapshot.embedder or NONE, replacing=forgetting)
        return Restored(name=snapshot.name, into=into, counts=_counted(snapshot), erased=len(later))

    async def _begin(self, filling: str, forgetting: str) -> str | None:
        """Mark the ledger as one that is being filled. Returns the mark that a run which was broken off has left."""
        known = await self._ledger.embedder_identity()
        if known in (filling, forgetting):
            return known
        if known is not None and known.startswith(UNFINISHED):
            raise InvalidInput(f"into: this database holds a part of something else ({known}); expected an empty one")
        if not await is_empty(self._ledger):
            raise InvalidInput("into: this database holds something already; expected an empty one")
        await self._ledger.set_embedder_identity(filling, replacing=known)
        return None

    async def _fill(self, shelf: Shelf, snapshot: Snapshot, progress: Progress, *, resumed: bool) -> None:
        writer = _Writer(self._ledger, Pieces(self._attaching), resumed=resumed)
        digest, seen = hashlib.sha256(), 0
        total = sum(part.records for part in snapshot.parts)
        async for lines in shelf.lines(snapshot):
            for start in range(0, len(lines), BATCH):
                batch = lines[start : start + BATCH]
                for line in batch:
                    digest.update(line)
                await writer.write(batch)
                seen += len(batch)
                progress("Restoring", seen, total)
        await writer.flush()
        _compare(snapshot, writer.counts, digest.hexdigest())

    async def _forget_again(self, logged: Logged) -> None:
        scope, what = Scope(logged.tenant, logged.user), logged.erasure.what
        if any(receipt.id == logged.erasure.id for receipt in await self._ledger.receipts(scope)):
            return  # by a run that was broken off
        try:
            await self._forgetting.forget(scope, what, id_=logged.erasure.id)
        except NotFound:
            pass  # it had not been said yet
        except OnHold:
            # It was released before this erasure, or that could not have happened.
            await self._ledger.release(scope)
            await self._forgetting.forget(scope, what, id_=logged.erasure.id)
        await self._ledger.write_archive(scope, [logged.erasure])


class _Writer:
    """Writes lines as the records of whoever the marks between them name."""

    def __init__(self, ledger: Ledger, pieces: Pieces, *, resumed: bool) -> None:
        self._ledger, self._pieces, self._resumed = ledger, pieces, resumed
        self._scope = Scope("")
        self._held: list[Held] = []
        self.counts: Counter[str] = Counter()

    async def write(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            match _record(line):
                case OfTenant(tenant=tenant):
                    await self.flush()
                    self._scope = Scope(tenant)
                case OfUser(user=user, embedder=embedder):
                    await self.flush()
                    self._scope = Scope(self._scope.tenant, user)
                    if embedder is not None:
                        await self._ledger.set_own_model(self._scope, embedder)
                case Opened() | Ended():
                    continue
                case FilePiece() as piece:
                    await self._take(piece)
                case record:
                    self._held.append(record)
        await self.flush()

    async def _take(self, piece: FilePiece) -> None:
        try:
            await self._pieces.take(self._scope, piece)
        except InvalidInput as error:
            raise SnapshotCorrupt(f"a file cannot be read: {error}") from None
        self.counts[NAMES[FilePiece]] += 1

    async def flush(self) -> None:
        if not self._held:
            return
        done = await written(self._ledger, self._scope, self._held)
        self._held = []
        self.counts += Counter(done.added) + Counter(done.known)
        if lost := {**({} if self._resumed else done.known), **done.loose}:
            raise SnapshotCorrupt(f"records that are there already, or point to nothing: {lost}")


def _record(line: bytes) -> Line:
    try:
        return record_of(line)
    except InvalidInput as error:
        raise SnapshotCorrupt(f"a record cannot be read: {error}") from None


def _compare(snapshot: Snapshot, counts: Counter[str], digest: str) -> None:
    if digest != snapshot.sha256:
        raise SnapshotCorrupt(f"{snapshot.name}: its parts together are not what the manifest says")
    if dict(counts) != _counted(snapshot):
        raise SnapshotCorrupt(f"{snapshot.name}: holds {dict(counts)} and was made of {dict(snapshot.counts)}")


def _counted(snapshot: Snapshot) -> Mapping[str, int]:
    return {name: count for name, count in snapshot.counts.items() if count}


def _marks(snapshot: Snapshot) -> tuple[str, str]:
    """Stand where the embedder's name belongs, so that a database that was left half-way is not opened."""
    return (
        f"{UNFINISHED} snapshot {snapshot.name} that is being restored",
        f"{UNFINISHED} snapshot {snapshot.name} that is restored, with what was forgotten since",
    )


async def written(ledger: Ledger, scope: Scope, held: Sequence[Held]) -> Written:
    """Write records of an archive. Raises InvalidInput that says whose it is for one that this ledger cannot keep."""
    try:
        return await ledger.write_archive(scope, held)
    except InvalidInput as error:
        raise InvalidInput(
            f"a record of {named(scope)} cannot be kept here: {error}. Forget what has that name where it is from, or "
            "take another kind of database"
        ) from error


async def is_empty(ledger: Ledger) -> bool:
    """Say whether a ledger holds nothing at all."""
    async with aclosing(ledger.read_archive(passages=False)) as batches:
        async for batch in batches:
            if any(not isinstance(record, Opened) for record in batch):
                return False
    return True
