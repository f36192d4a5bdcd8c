"""The methods of the product that forget, apart from the others because they have more to say."""

from datetime import datetime, timedelta
from os import PathLike, fspath

from commonplace.domain.embeddings import Embeddings, Migrated
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.inputs import parse_optional_name, parse_share, parse_text
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.results import Consolidated, Purged
from commonplace.domain.retention import Hold
from commonplace.domain.scope import Scope
from commonplace.domain.snapshots import Pruned, Snapshot, Verified
from commonplace.domain.times import parse_optional_moment
from commonplace.domain.values import FactId, MessageId, SessionId
from commonplace.engine.attaching import Attaching
from commonplace.engine.chores import Chore, Chores
from commonplace.engine.consolidating import Consolidating
from commonplace.engine.filling import Filling
from commonplace.engine.forgetting import Forgetting
from commonplace.engine.migrating import LEAST_OVERLAP, Migrating
from commonplace.engine.parts import Parts
from commonplace.engine.purging import Purging
from commonplace.engine.snapshotting import LATEST, Shelf, Snapshotting
from commonplace.ports.snapshot_store import SnapshotStore


class Caring:
    _parts: Parts
    _attaching: Attaching
    _filling: Filling
    _forgetting: Forgetting
    _consolidating: Consolidating
    _purging: Purging
    _migrating: Migrating

    async def forget(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        before: datetime | str | None = None,
        message: str | None = None,
        fact: str | None = None,
        anonymous: bool = False,
        whole_tenant: str | None = None,
        dry_run: bool = False,
        progress: Progress = unseen,
    ) -> Receipt:
        """Remove a user, or the part that is named, from every store and every file, and look that it is gone.

        All of the anonymous user needs `anonymous=True`; all users of this tenant need its name as `whole_tenant`.
        A dry run counts what would go, and changes nothing.
        """
        what = Part(
            session=None if session is None else SessionId(_name(session, "session")),
            before=parse_optional_moment(before, name="before"),
            message=None if message is None else MessageId(_name(message, "message")),
            fact=None if fact is None else FactId(_name(fact, "fact")),
        )
        named = parse_optional_name(user, name="user")
        if whole_tenant is not None:
            self._check_tenant(whole_tenant, alone=what.whole and named is None and not anonymous)
            return await self._forgetting.forget_tenant(dry_run=dry_run, progress=progress)
        if anonymous and named is not None:
            raise InvalidInput(f"user={named!r}, anonymous=True: expected one of them")
        if what.whole and named is None and not anonymous:
            raise InvalidInput(
                "forget: nothing is named; expected user, session, before, message or fact "
                "(anonymous=True forgets all of the anonymous user)"
            )
        return await self._forgetting.forget(self._whose(named), what, dry_run=dry_run, progress=progress)

    async def receipts(self, *, user: str | None = None) -> list[Receipt]:
        """Return the receipts of what was forgotten of a user, oldest first."""
        return list(await self._parts.ledger.receipts(self._whose(user)))

    async def purge(self, *, dry_run: bool = False, progress: Progress = unseen) -> Purged:
        """Forget what has expired, or is older than its retention allows. A dry run says what would go."""
        return await self._purging.purge(dry_run=dry_run, progress=progress)

    async def hold(self, *, user: str | None = None, reason: str = "") -> Hold:
        """Let nobody remove anything of this user, neither `forget` nor `purge`, until `release`."""
        scope = self._whose(user)
        if reason:
            parse_text(reason, name="reason")
        return await self._parts.ledger.hold(scope, Hold(user=scope.user, since=self._parts.now(), reason=reason))

    async def release(self, *, user: str | None = None) -> None:
        """End a hold. Raises NotFound if there is none."""
        scope = self._whose(user)
        if not await self._parts.ledger.release(scope):
            raise NotFound("hold", scope.user or "(anonymous)")

    async def holds(self) -> list[Hold]:
        """Return who is on hold in this tenant."""
        return list(await self._parts.ledger.holds(self._parts.options.tenant))

    async def tend(self) -> None:
        """Do what is due from time to time, as long as it is not cancelled. Of many processes, one does it."""
        await Chores(self._parts, self._chores()).run()

    def _chores(self) -> list[Chore]:
        options = self._parts.options
        chores = [Chore(f"purge of {options.tenant}", options.purge_interval, self.purge)]
        if options.snapshot_interval is not None and options.snapshot_to is not None:
            chores.append(Chore("snapshot", options.snapshot_interval, self._scheduled_snapshot))
        return chores

    async def _scheduled_snapshot(self) -> None:
        await self.snapshot()
        await self.prune_snapshots(keep=self._parts.options.snapshot_keep)

    async def snapshot(self, to: str | PathLike[str] | None = None, *, progress: Progress = unseen) -> Snapshot:
        """Write everything, of every tenant, as of this moment, to a folder or `s3://bucket/prefix`.

        Writing goes on meanwhile. Without `to`: where the settings say.
        """
        await self._filling.settle_all()
        try:
            return await Snapshotting(self._parts, self._attaching).create(self._store(to), progress=progress)
        finally:
            await self._forgetting.complete()  # a forget could not empty the log of the database meanwhile

    async def snapshots(self, at: str | PathLike[str] | None = None) -> list[Snapshot]:
        """Return the snapshots at a place, oldest first. One that was broken off is none."""
        return list(await Shelf(self._store(at), self._parts.seal).list())

    async def verify_snapshot(
        self, name: str = LATEST, *, at: str | PathLike[str] | None = None, progress: Progress = unseen
    ) -> Verified:
        """Read every byte of a snapshot and compare it with what was saved."""
        shelf = Shelf(self._store(at), self._parts.seal)
        return await shelf.verify(await shelf.get(name), progress=progress)

    async def prune_snapshots(
        self,
        *,
        at: str | PathLike[str] | None = None,
        keep: int | None = None,
        older_than_days: float | None = None,
    ) -> Pruned:
        """Remove snapshots beyond the `keep` latest, and older than so many days. The latest always stays."""
        if keep is None and older_than_days is None:
            raise InvalidInput("prune: nothing is named; expected keep, older_than_days, or both")
        older_than = None if older_than_days is None else timedelta(days=older_than_days)
        return await Shelf(self._store(at), self._parts.seal).prune(self._parts, keep=keep, older_than=older_than)

    def _store(self, place: object) -> SnapshotStore:
        where = self._parts.options.snapshot_to if place is None else place
        if where is None:
            raise InvalidInput("no place for snapshots is named: expected a folder or s3://bucket/prefix (snapshot_to)")
        if not isinstance(where, (str, PathLike)) or not fspath(where):
            raise InvalidInput(f"{where!r}: expected a folder or s3://bucket/prefix")
        return self._parts.open_store(fspath(where))

    async def consolidate(
        self,
        *,
        user: str | None = None,
        everyone: bool = False,
        dry_run: bool = False,
        progress: Progress = unseen,
    ) -> Consolidated:
        """Forget what is due, merge facts that say the same, weigh anew, sum up sessions that are over.

        Of one user, or of every user of this tenant. A second run finds nothing to do. A dry run changes nothing.
        """
        if everyone and user is not None:
            raise InvalidInput(f"user={user!r}, everyone=True: expected one of them")
        if everyone:
            return await self._consolidating.everyone(dry_run=dry_run, progress=progress)
        return await self._consolidating.consolidate(self._whose(user), dry_run=dry_run, progress=progress)

    async def migrate_embeddings(
        self,
        *,
        to: object,
        switch: bool = True,
        least_overlap: float = LEAST_OVERLAP,
        progress: Progress = unseen,
    ) -> Migrated:
        """Change the embedding model, of every tenant, while everything goes on: build beside, compare, switch.

        `to` is a name like `openai:text-embedding-3-small`, or an embedder. Cut short, the same call goes on where it
        stopped. Without `switch` the new vectors stay aside, for a later call.
        """
        least = parse_share(least_overlap, name="least_overlap")
        return await self._migrating.migrate(to, switch=switch, least=least, progress=progress)

    async def roll_back_embeddings(self, *, progress: Progress = unseen) -> Migrated:
        """Go back to the embedding model before the last migration, as long as its vectors are kept."""
        return await self._migrating.roll_back(progress=progress)

    async def discard_embeddings(self, *, progress: Progress = unseen) -> int:
        """Remove the vectors that are not in use, of a model to come or of the one before. Returns how many."""
        return await self._migrating.discard(progress=progress)

    async def embeddings(self) -> Embeddings:
        """Say whose vectors are in use, and whether there are others aside."""
        return await self._migrating.embeddings()

    def _check_tenant(self, name: str, *, alone: bool) -> None:
        tenant = self._parts.options.tenant
        if name != tenant:
            raise InvalidInput(f"whole_tenant={name!r}: expected the name of this memory's tenant, {tenant!r}")
        if not alone:
            raise InvalidInput(f"whole_tenant={name!r}: expected alone, not with a user or a part of one")

    def _whose(self, user: object) -> Scope:
        return Scope(self._parts.options.tenant, parse_optional_name(user, name="user"))


def _name(value: object, name: str) -> str:
    parsed = parse_optional_name(value, name=name)
    assert parsed is not None
    return parsed
