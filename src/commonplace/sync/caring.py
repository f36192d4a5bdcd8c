"""The methods that forget and look after what is kept."""

from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Receipt
from commonplace.domain.results import Purged
from commonplace.domain.retention import Hold
from commonplace.engine.finding import Moment
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

    def consolidate(self, *, user: str | None = None) -> None:
        self._loop.call(self._memory.consolidate(user=user))

    def snapshot(self, to: str) -> None:
        self._loop.call(self._memory.snapshot(to))

    def snapshots(self, at: str) -> None:
        self._loop.call(self._memory.snapshots(at))

    def migrate_embeddings(self, *, to: str) -> None:
        self._loop.call(self._memory.migrate_embeddings(to=to))
