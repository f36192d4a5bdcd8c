"""snapshot: the whole ledger as of one moment, in parts, and a manifest written last. Without one it is no snapshot.

Beside the snapshots lies the log of erasures, so that what was forgotten later does not come back with an older one.
"""

import asyncio
import gzip
import hashlib
import secrets
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta

from commonplace.care.snapshot import (
    CHECK,
    MANIFEST,
    SNAPSHOTS,
    Packer,
    manifest_of,
    named,
    object_name,
    read_manifest,
    to_prune,
)
from commonplace.domain.archive import Archived, KeptErasure, OfTenant, OfUser
from commonplace.domain.errors import InvalidInput, NotFound, SnapshotCorrupt
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.scope import Scope
from commonplace.domain.snapshots import Pruned, Snapshot, SnapshotPart, Verified
from commonplace.engine.attaching import Attaching
from commonplace.engine.erasure_log import ErasureLog, Logged
from commonplace.engine.parts import Parts
from commonplace.engine.pieces import with_files
from commonplace.ports.snapshot_store import Seal, Sealer, SnapshotStore

UNFINISHED = timedelta(days=1)
"""Parts without a manifest that are older are of a snapshot that was broken off."""
LATEST = "latest"


class Snapshotting:
    def __init__(self, parts: Parts, attaching: Attaching) -> None:
        self._parts, self._attaching = parts, attaching

    async def create(self, store: SnapshotStore, *, progress: Progress = unseen) -> Snapshot:
        """Write a snapshot. Writing goes on meanwhile; what was acknowledged before it began is in it."""
        seal = self._parts.seal
        made_at = self._parts.now()
        name = named(made_at, self._parts.new_id())
        salt = secrets.token_bytes(16) if seal else None
        sealer = await asyncio.to_thread(seal.begin, salt) if seal and salt else None
        packer, written, logged = Packer(), list[SnapshotPart](), list[Logged]()
        total = await self._total()
        scope = Scope("")
        async with aclosing(self._parts.ledger.read_archive()) as batches:
            async for batch in with_files(batches, self._parts.ledger, self._attaching):
                scope = _gather(batch, scope, logged)
                await asyncio.to_thread(packer.add, batch)
                if packer.full:
                    written.append(await _put_part(store, name, packer, len(written), sealer))
                    progress("Writing a snapshot", sum(part.records for part in written), total)
        written.append(await _put_part(store, name, packer, len(written), sealer))
        assert packer.opened is not None
        snapshot = Snapshot(
            name=name,
            made_at=made_at,
            ledger=packer.opened.ledger,
            embedder=packer.opened.embedder,
            counts=dict(packer.counts),
            parts=tuple(written),
            sha256=packer.sha256(),
            erasures=tuple(packer.erasures),
            salt=salt,
            check=sealer.close(CHECK, place=name) if sealer else None,
        )
        await ErasureLog(store).add(logged)
        # Before there is a snapshot: a forget that does not know of one would let it bring things back.
        await self._parts.ledger.add_snapshot_place(store.place, latest=name)
        await store.put(object_name(name, MANIFEST), manifest_of(snapshot))
        progress("Writing a snapshot", total, total)
        return snapshot

    async def _total(self) -> int:
        tenants = await self._parts.ledger.counts(self._parts.options.tenant)
        return tenants.messages + tenants.fact_versions


class Shelf:
    """The snapshots at one place."""

    def __init__(self, store: SnapshotStore, seal: Seal | None) -> None:
        self._store, self._seal = store, seal

    async def list(self) -> Sequence[Snapshot]:
        """Return every snapshot that has a manifest, oldest first. Raises SnapshotCorrupt for one that is damaged."""
        names = [one for one in await self._store.names(SNAPSHOTS) if one.endswith(f"/{MANIFEST}")]
        found = [await self.get(name.split("/")[1]) for name in names]
        return sorted(found, key=lambda one: (one.made_at, one.name))

    async def get(self, name: str) -> Snapshot:
        """Return one by name, or the latest. Raises NotFound, and SnapshotCorrupt."""
        if name == LATEST:
            found = await self.list()
            if not found:
                raise NotFound("snapshot", LATEST, where=f"in {self._store.place}: there is none")
            return found[-1]
        try:
            return read_manifest(await self._store.get(object_name(name, MANIFEST)), name=name)
        except NotFound:
            raise NotFound("snapshot", name, where=f"in {self._store.place}") from None

    async def lines(self, snapshot: Snapshot) -> AsyncIterator[Sequence[bytes]]:
        """Yield the lines of each part. Raises SnapshotCorrupt for one that is not what the manifest says."""
        sealer = await self._sealer(snapshot)
        for part in snapshot.parts:
            try:
                data = await self._store.get(object_name(snapshot.name, part.name))
            except NotFound:
                raise SnapshotCorrupt(f"{snapshot.name}: {part.name} is not there") from None
            yield await asyncio.to_thread(_opened, snapshot, part, data, sealer)

    async def verify(self, snapshot: Snapshot, *, progress: Progress = unseen) -> Verified:
        """Read every byte of a snapshot and compare it with its manifest."""
        digest, seen, problems = hashlib.sha256(), 0, list[str]()
        try:
            async for lines in self.lines(snapshot):
                for line in lines:
                    digest.update(line)
                seen += len(lines)
                progress("Reading a snapshot", seen, sum(part.records for part in snapshot.parts))
        except SnapshotCorrupt as error:
            problems.append(str(error))
        else:
            if digest.hexdigest() != snapshot.sha256:
                problems.append(f"{snapshot.name}: its parts together are not what the manifest says")
        return Verified(name=snapshot.name, records=seen, bytes=snapshot.bytes, problems=tuple(problems))

    async def prune(self, parts: Parts, *, keep: int | None, older_than: timedelta | None) -> Pruned:
        """Remove old snapshots, and what broken-off ones have left. The latest always stays."""
        there, now = await self.list(), parts.now()
        gone = to_prune(there, keep=keep, older_than=older_than, now=now)
        names = await self._store.names(SNAPSHOTS)
        finished = {one.name for one in there}
        before = named(now - UNFINISHED, "")
        unfinished = sorted({name.split("/")[1] for name in names} - finished)
        unfinished = [name for name in unfinished if name < before]
        for name in [*(one.name for one in gone), *unfinished]:
            inside = [one for one in names if one.startswith(object_name(name, ""))]
            # The manifest first: without it, what is left is no snapshot any more.
            await self._store.delete(sorted(inside, key=lambda one: not one.endswith(MANIFEST)))
        removed = {one.name for one in gone}
        return Pruned(
            removed=tuple(one.name for one in gone),
            kept=tuple(one.name for one in there if one.name not in removed),
            unfinished=tuple(unfinished),
        )

    async def _sealer(self, snapshot: Snapshot) -> Sealer | None:
        if snapshot.salt is None:
            return None
        if self._seal is None:
            raise InvalidInput(
                f"{snapshot.name} is encrypted: expected snapshot_passphrase or snapshot_key_file, as it was made with"
            )
        sealer = await asyncio.to_thread(self._seal.begin, snapshot.salt)
        if sealer.open(snapshot.check or b"", place=snapshot.name) != CHECK:
            raise SnapshotCorrupt(f"{snapshot.name}: its manifest was changed")
        return sealer


def _gather(batch: Sequence[Archived], scope: Scope, logged: list[Logged]) -> Scope:
    """Pick out the erasures, with whose they are. Returns whose records come next."""
    for record in batch:
        match record:
            case OfTenant(tenant=tenant):
                scope = Scope(tenant)
            case OfUser(user=user):
                scope = Scope(scope.tenant, user)
            case KeptErasure():
                logged.append(Logged(tenant=scope.tenant, user=scope.user, erasure=record))
    return scope


async def _put_part(
    store: SnapshotStore, snapshot: str, packer: Packer, number: int, sealer: Sealer | None
) -> SnapshotPart:
    name, records = f"part-{number:05}.jsonl.gz", packer.records
    data = await asyncio.to_thread(packer.take)
    if sealer is not None:
        data = await asyncio.to_thread(sealer.close, data, place=f"{snapshot}/{name}")
    await store.put(object_name(snapshot, name), data)
    return SnapshotPart(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), records=records)


def _opened(snapshot: Snapshot, part: SnapshotPart, data: bytes, sealer: Sealer | None) -> Sequence[bytes]:
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise SnapshotCorrupt(f"{snapshot.name}: {part.name} is not what the manifest says")
    if sealer is not None:
        data = sealer.open(data, place=f"{snapshot.name}/{part.name}")
    try:
        lines = gzip.decompress(data).splitlines(keepends=True)
    except (OSError, EOFError, zlib.error) as error:
        raise SnapshotCorrupt(f"{snapshot.name}: {part.name} cannot be read: {error}") from None
    if len(lines) != part.records:
        raise SnapshotCorrupt(f"{snapshot.name}: {part.name} has {len(lines)} records, not {part.records}")
    return lines
