"""The methods that forget and look after what is kept."""

from os import PathLike

from commonplace.domain.embeddings import Embeddings, Migrated
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Receipt
from commonplace.domain.results import Consolidated, Purged
from commonplace.domain.retention import Hold
from commonplace.domain.snapshots import Pruned, Snapshot, Verified
from commonplace.engine.finding import Moment
from commonplace.engine.migrating import LEAST_OVERLAP
from commonplace.engine.snapshotting import LATEST
from commonplace.memory import AsyncMemory
from commonplace.sync.loop import Loop


class Caring:
    _loop: Loop
    _memory: AsyncMemory

    def forget(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        before: Moment | None = None,
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
        return self._loop.call(
            self._memory.forget(
                user=user,
                session=session,
                before=before,
                message=message,
                fact=fact,
                anonymous=anonymous,
                whole_tenant=whole_tenant,
                dry_run=dry_run,
                progress=progress,
            )
        )

    def receipts(self, *, user: str | None = None) -> list[Receipt]:
        """Return the receipts of what was forgotten of a user, oldest first."""
        return self._loop.call(self._memory.receipts(user=user))

    def purge(self, *, dry_run: bool = False, progress: Progress = unseen) -> Purged:
        """Forget what has expired, or is older than its retention allows. A dry run says what would go."""
        return self._loop.call(self._memory.purge(dry_run=dry_run, progress=progress))

    def hold(self, *, user: str | None = None, reason: str = "") -> Hold:
        """Let nobody remove anything of this user, neither `forget` nor `purge`, until `release`."""
        return self._loop.call(self._memory.hold(user=user, reason=reason))

    def release(self, *, user: str | None = None) -> None:
        """End a hold. Raises NotFound if there is none."""
        self._loop.call(self._memory.release(user=user))

    def holds(self) -> list[Hold]:
        """Return who is on hold in this tenant."""
        return self._loop.call(self._memory.holds())

    def tend(self) -> None:
        """Do what is due from time to time, as long as it is not cancelled. Of many processes, one does it."""
        self._loop.call(self._memory.tend())

    def consolidate(
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
        return self._loop.call(
            self._memory.consolidate(user=user, everyone=everyone, dry_run=dry_run, progress=progress)
        )

    def snapshot(self, to: str | PathLike[str] | None = None, *, progress: Progress = unseen) -> Snapshot:
        """Write everything, of every tenant, as of this moment, to a folder or `s3://bucket/prefix`.

        Writing goes on meanwhile. Without `to`: where the settings say.
        """
        return self._loop.call(self._memory.snapshot(to, progress=progress))

    def snapshots(self, at: str | PathLike[str] | None = None) -> list[Snapshot]:
        """Return the snapshots at a place, oldest first. One that was broken off is none."""
        return self._loop.call(self._memory.snapshots(at))

    def verify_snapshot(
        self, name: str = LATEST, *, at: str | PathLike[str] | None = None, progress: Progress = unseen
    ) -> Verified:
        """Read every byte of a snapshot and compare it with what was saved."""
        return self._loop.call(self._memory.verify_snapshot(name, at=at, progress=progress))

    def prune_snapshots(
        self,
        *,
        at: str | PathLike[str] | None = None,
        keep: int | None = None,
        older_than_days: float | None = None,
    ) -> Pruned:
        """Remove snapshots beyond the `keep` latest, and older than so many days. The latest always stays."""
        return self._loop.call(self._memory.prune_snapshots(at=at, keep=keep, older_than_days=older_than_days))

    def migrate_embeddings(
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
        return self._loop.call(
            self._memory.migrate_embeddings(to=to, switch=switch, least_overlap=least_overlap, progress=progress)
        )

    def roll_back_embeddings(self, *, progress: Progress = unseen) -> Migrated:
        """Go back to the embedding model before the last migration, as long as its vectors are kept."""
        return self._loop.call(self._memory.roll_back_embeddings(progress=progress))

    def discard_embeddings(self, *, progress: Progress = unseen) -> int:
        """Remove the vectors that are not in use, of a model to come or of the one before. Returns how many."""
        return self._loop.call(self._memory.discard_embeddings(progress=progress))

    def embeddings(self) -> Embeddings:
        """Say whose vectors are in use, and whether there are others aside."""
        return self._loop.call(self._memory.embeddings())
