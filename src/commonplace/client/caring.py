"""The methods of AsyncClient that forget, and say how long things are kept; snapshots stay where the service is."""

from os import PathLike
from typing import Any

from commonplace.client.asking import Asking, NotOverHTTP
from commonplace.client.paths import segment, user_of
from commonplace.domain.plain import from_json
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Receipt
from commonplace.domain.results import Consolidated, Purged
from commonplace.domain.retention import Hold
from commonplace.domain.snapshots import Pruned, Snapshot, Verified
from commonplace.engine.finding import Moment
from commonplace.engine.snapshotting import LATEST


class RemoteCaring:
    _asking: Asking

    async def forget(
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
        """Remove a user, or the part that is named, from every store and every file, and look that it is gone."""
        answer = await self._asking.call(
            "POST",
            "/v1/forget",
            user=user,
            session=session,
            before=before,
            message=message,
            fact=fact,
            anonymous=anonymous,
            whole_tenant=whole_tenant,
            dry_run=dry_run,
        )
        return from_json(Receipt, answer)

    async def receipts(self, *, user: str | None = None) -> list[Receipt]:
        """Return the receipts of what was forgotten of a user, oldest first."""
        answer = await self._asking.get("/v1/receipts", user=user_of(user))
        return [from_json(Receipt, item) for item in answer["items"]]

    async def purge(self, *, dry_run: bool = False, progress: Progress = unseen) -> Purged:
        """Forget what has expired, or is older than its retention allows. A dry run says what would go."""
        return from_json(Purged, await self._asking.call("POST", "/v1/purge", dry_run=dry_run))

    async def hold(self, *, user: str | None = None, reason: str = "") -> Hold:
        """Let nobody remove anything of this user, neither `forget` nor `purge`, until `release`."""
        return from_json(Hold, await self._asking.call("POST", "/v1/holds", user=user, reason=reason))

    async def release(self, *, user: str | None = None) -> None:
        """End a hold. Raises NotFound if there is none."""
        await self._asking.call("DELETE", "/v1/holds", params={"user": user_of(user)})

    async def holds(self) -> list[Hold]:
        """Return who is on hold in this tenant."""
        return [from_json(Hold, item) for item in (await self._asking.get("/v1/holds"))["items"]]

    async def consolidate(
        self,
        *,
        user: str | None = None,
        everyone: bool = False,
        dry_run: bool = False,
        progress: Progress = unseen,
    ) -> Consolidated:
        """Forget what is due, merge facts that say the same, weigh anew, sum up sessions that are over."""
        answer = await self._asking.call("POST", "/v1/consolidate", user=user, everyone=everyone, dry_run=dry_run)
        return from_json(Consolidated, answer)

    async def snapshot(self, to: str | PathLike[str] | None = None, *, progress: Progress = unseen) -> Snapshot:
        """Write everything, of every tenant, where the service keeps its snapshots."""
        _check_place(to, "to")
        return _snapshot(await self._asking.call("POST", "/v1/snapshots"))

    async def snapshots(self, at: str | PathLike[str] | None = None) -> list[Snapshot]:
        """Return the snapshots of the service, oldest first."""
        _check_place(at, "at")
        return [_snapshot(item) for item in (await self._asking.get("/v1/snapshots"))["items"]]

    async def verify_snapshot(
        self, name: str = LATEST, *, at: str | PathLike[str] | None = None, progress: Progress = unseen
    ) -> Verified:
        """Read every byte of a snapshot and compare it with what was saved."""
        _check_place(at, "at")
        path = f"/v1/snapshots/{segment(name, name='name')}/verify"
        return from_json(Verified, await self._asking.call("POST", path))

    async def prune_snapshots(
        self,
        *,
        at: str | PathLike[str] | None = None,
        keep: int | None = None,
        older_than_days: float | None = None,
    ) -> Pruned:
        """Remove snapshots beyond the `keep` latest, and older than so many days. The latest always stays."""
        _check_place(at, "at")
        answer = await self._asking.call("POST", "/v1/snapshots/prune", keep=keep, older_than_days=older_than_days)
        return from_json(Pruned, answer)

    async def tend(self) -> None:
        """The service does what is due by itself."""
        raise NotOverHTTP("tend: the service does what is due by itself")


def _check_place(place: object, name: str) -> None:
    if place is not None:
        raise NotOverHTTP(f"{name}={place!r}: the service keeps snapshots where its settings say (snapshot_to)")


def _snapshot(told: dict[str, Any]) -> Snapshot:
    """Return the manifest; which key its parts are encrypted with stays where they are."""
    return from_json(Snapshot, told | {"salt": b"" if told["encrypted"] else None})
