"""restore: a snapshot into an empty ledger, compared with its manifest; then every erasure that came after it.

Whoever calls this lets nobody read the ledger before it has returned.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence

from commonplace.care.lines import Ended, Line, record_of
from commonplace.domain.archive import NAMES, UNFINISHED, FilePiece, Held, OfTenant, OfUser, Opened
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
UNDER_WAY = f"{UNFINISHED} a snapshot that is being restored"
"""Stands where the embedder's name belongs, so that a database that was left half-way is not opened."""
NONE = "none"
"""Of a snapshot without vectors: whoever opens it puts its own name there."""


class Restoring:
    def __init__(self, parts: Parts, forgetting: Forgetting, attaching: Attaching) -> None:
        self._parts, self._ledger, self._forgetting, self._attaching = parts, parts.ledger, forgetting, attaching

    async def restore(
        self, shelf: Shelf, snapshot: Snapshot, log: ErasureLog, *, into: str, progress: Progress
    ) -> Restored:
        """Fill the ledger, and apply what was forgotten since. Raises SnapshotCorrupt if it is not what was saved."""
        await self._ledger.set_embedder_identity(UNDER_WAY)
        writer, digest, seen = _Writer(self._ledger, Pieces(self._attaching)), hashlib.sha256(), 0
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
        later = await log.later_than(frozenset(snapshot.erasures))
        for number, logged in enumerate(later):
            progress("Forgetting what was forgotten since", number, len(later))
            await self._forget_again(logged)
        await self._ledger.set_embedder_identity(snapshot.embedder or NONE, replacing=UNDER_WAY)
        return Restored(
            name=snapshot.name, into=into, counts=dict(writer.counts), erased=len(later), notes=tuple(writer.notes)
        )

    async def _forget_again(self, logged: Logged) -> None:
        scope, what = Scope(logged.tenant, logged.user), logged.erasure.what
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

    def __init__(self, ledger: Ledger, pieces: Pieces) -> None:
        self._ledger, self._pieces = ledger, pieces
        self._scope = Scope("")
        self._held: list[Held] = []
        self.counts: Counter[str] = Counter()
        self.notes: dict[str, None] = {}

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
        written = await self._ledger.write_archive(self._scope, self._held)
        self._held = []
        self.counts += Counter(written.added)
        if lost := {**written.known, **written.loose}:
            raise SnapshotCorrupt(f"records that are there already, or point to nothing: {lost}")


def _record(line: bytes) -> Line:
    try:
        return record_of(line)
    except InvalidInput as error:
        raise SnapshotCorrupt(f"a record cannot be read: {error}") from None


def _compare(snapshot: Snapshot, counts: Counter[str], digest: str) -> None:
    if digest != snapshot.sha256:
        raise SnapshotCorrupt(f"{snapshot.name}: its parts together are not what the manifest says")
    if dict(counts) != {name: count for name, count in snapshot.counts.items() if count}:
        raise SnapshotCorrupt(f"{snapshot.name}: holds {dict(counts)} and was made of {dict(snapshot.counts)}")
