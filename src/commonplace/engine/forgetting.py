"""forget: the ledger first, in one transaction that leaves a record; then caches, index and files; a look; a receipt.

Every step after the first can be taken again: a forget that was cut short is completed when the memory is next opened.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.care.snapshot import SNAPSHOTS
from commonplace.domain.archive import KeptErasure
from commonplace.domain.errors import Conflict, InvalidInput, Unavailable
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Part, Receipt, summed
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId, Summary
from commonplace.engine.attaching import Attaching
from commonplace.engine.choosing import Choosing
from commonplace.engine.corpora import Corpora
from commonplace.engine.erasure_log import ErasureLog, Logged
from commonplace.engine.parts import Parts
from commonplace.engine.planner import Planner
from commonplace.engine.removing import Removing
from commonplace.engine.traces import Traces
from commonplace.ports.erasure import Erased

LOG = logging.getLogger(__name__)
ATTEMPTS = 50
"""As in `committing`: so many times a plan may be overtaken by a change to the facts."""
STEPS = ("Erasing", "Clearing caches", "Clearing the index", "Writing files anew", "Looking again")


Rebuild = Callable[[Scope, Sequence[Summary]], Awaitable[None]]


async def _nothing(scope: Scope, broken: Sequence[Summary]) -> None:
    return None


def _no_stage(name: str) -> None:
    return None


class Forgetting:
    def __init__(
        self,
        parts: Parts,
        corpora: Corpora,
        choosing: Choosing,
        planner: Planner,
        *,
        attaching: Attaching,
        rebuild: Rebuild = _nothing,
        stage: Callable[[str], None] = _no_stage,
    ) -> None:
        """`stage` is told what has been reached: begun, erased, caches, index, files, verified, concluded.

        `rebuild` sums up anew what is left of the stretches that summaries which had to go were about.
        """
        self._rebuild, self._attaching = rebuild, attaching
        self._parts, self._ledger = parts, parts.ledger
        self._corpora, self._choosing, self._planner, self._stage = corpora, choosing, planner, stage
        self._removing, self._traces = Removing(parts), Traces(parts)

    async def forget(
        self,
        scope: Scope,
        what: Part,
        *,
        dry_run: bool = False,
        progress: Progress = unseen,
        id_: str | None = None,
    ) -> Receipt:
        """Forget it and return the receipt; a dry run counts and changes nothing.

        Raises NotFound for a message or fact that is not there. Raises Unavailable when the files cannot be seen to
        now: nothing of it can be found any more, and the rest is done when the memory is next opened.
        """
        self._stage("begun")
        broken = await self._broken(scope, what)
        erased, traces = await self._erase(scope, what, dry_run=dry_run, progress=progress, id_=id_)
        if dry_run:
            return _receipt(erased)
        self._stage("erased")
        (receipt,) = await self._see_to([erased], progress, traces)
        await self._rebuild(scope, broken)
        return receipt

    async def forget_each(
        self, whats: Mapping[Scope, Part], *, dry_run: bool = False, progress: Progress = unseen
    ) -> Sequence[Receipt]:
        """Forget something of several users. Each is a forget of its own; files and index are seen to once."""
        self._stage("begun")
        broken = {scope: await self._broken(scope, what) for scope, what in whats.items()}
        done = [await self._erase(scope, what, dry_run=dry_run, progress=progress) for scope, what in whats.items()]
        if dry_run:
            return [_receipt(one) for one, _ in done]
        self._stage("erased")
        receipts = await self._see_to([one for one, _ in done], progress, [trace for _, some in done for trace in some])
        for scope, summaries in broken.items():
            await self._rebuild(scope, summaries)
        return receipts

    async def _broken(self, scope: Scope, what: Part) -> Sequence[Summary]:
        """Return the summaries that go because of a message, while others that they cover may stay."""
        if what.whole or what.fact is not None:
            return ()
        return await self._ledger.covering(scope, await self._ledger.chosen(scope, what))

    async def forget_tenant(self, *, dry_run: bool = False, progress: Progress = unseen) -> Receipt:
        """Forget every user of this tenant, all or none, and return what their receipts sum up to."""
        self._stage("begun")
        tenant, now = self._parts.options.tenant, self._parts.now()
        progress(STEPS[0], 0, len(STEPS))
        erased = await self._ledger.erase_tenant(tenant, at=now, new_id=self._parts.new_id, dry_run=dry_run)
        receipts: Sequence[Receipt] = [_receipt(one) for one in erased]
        if not dry_run:
            self._stage("erased")
            receipts = await self._see_to(erased, progress)
        return summed(receipts, tenant=tenant, id_=self._parts.new_id(), requested_at=now)

    async def complete(self) -> None:
        """Finish what was cut short, by whomever. What cannot be finished now is left for the next time."""
        pending = await self._ledger.pending_erasures()
        if not pending:
            return
        try:
            await self._finish(pending, unseen)
        except Unavailable as error:
            LOG.warning("a forget could not be completed yet: %s", type(error).__name__)
        else:
            LOG.info("a forget that was cut short is complete")

    async def _see_to(
        self, erased: Sequence[Erased], progress: Progress, traces: Sequence[MessageId] = ()
    ) -> Sequence[Receipt]:
        try:
            return await self._finish(erased, progress, traces)
        except Unavailable as error:
            raise type(error)(
                f"{error}; nothing of it can be found any more, and its traces in files are removed when the memory is "
                "next opened"
            ) from error

    async def _erase(
        self, scope: Scope, what: Part, *, dry_run: bool, progress: Progress, id_: str | None = None
    ) -> tuple[Erased, Sequence[MessageId]]:
        """Returns what was erased, and messages that may not be found anywhere any more."""
        id_ = id_ or self._parts.new_id()
        for _ in range(ATTEMPTS):
            removal = await self._removing.plan(scope, what, id_, progress=progress)
            progress(STEPS[0], 0, len(STEPS))
            traces = await self._traces.of(scope, removal)
            try:
                return await self._ledger.erase(scope, removal, dry_run=dry_run), traces
            except Conflict:
                continue
        raise Conflict(f"the facts of this user changed {ATTEMPTS} times while they were read: try again")

    async def _publish(self, erased: Sequence[Erased], receipts: Sequence[Receipt]) -> tuple[str, ...]:
        """Tell every place that has snapshots, so that none of them brings it back. Returns which could not be told."""
        logged = [_logged(one, receipt) for one, receipt in zip(erased, receipts, strict=True)]
        untold: list[str] = []
        for place in await self._ledger.snapshot_places():
            try:
                store = self._parts.open_store(place)
                if await store.names(SNAPSHOTS):
                    await ErasureLog(store).add(logged)
            except (Unavailable, InvalidInput) as error:
                LOG.warning("the log of erasures beside snapshots could not be written: %s", type(error).__name__)
                untold.append(f"{place} could not be told, so older snapshots there still hold it: {error}")
        return tuple(untold)

    async def _finish(
        self, erased: Sequence[Erased], progress: Progress, traces: Sequence[MessageId] = ()
    ) -> Sequence[Receipt]:
        """See to what the ledger cannot: each step may have been taken before."""
        progress(STEPS[1], 1, len(STEPS))
        for one in erased:
            await self._corpora.drop(one.scope)
        self._choosing.clear()
        elsewhere, unreached = await self._traces.erase([one.scope for one in erased], traces)
        self._stage("caches")
        progress(STEPS[2], 2, len(STEPS))
        has_index = await self._planner.erase({one.scope: one.number for one in erased})
        self._stage("index")
        progress(STEPS[3], 3, len(STEPS))
        for one in erased:
            await self._attaching.sweep(one.scope)
        out_of_reach = tuple(await self._ledger.scrub())
        self._stage("files")
        progress(STEPS[4], 4, len(STEPS))
        for one in erased:
            if left := await self._ledger.remains(one):
                raise Unavailable(f"forget {one.id}: {left} rows are still in the ledger")
        self._stage("verified")
        index = ("index",) if has_index else ()
        verified = ("ledger", "cache", *elsewhere, *index, *(() if out_of_reach else ("files",)))
        at = self._parts.now()
        done = [_receipt(one, at=at, verified=verified) for one in erased]
        notes = (*unreached, *out_of_reach, *await self._publish(erased, done))
        receipts = [
            await self._ledger.conclude(replace(receipt, notes=(*receipt.notes, *notes)), one)
            for receipt, one in zip(done, erased, strict=True)
        ]
        self._stage("concluded")
        progress(STEPS[4], 5, len(STEPS))
        for one in erased:
            self._planner.written(one.scope)
        return receipts


def _logged(erased: Erased, receipt: Receipt) -> Logged:
    kept = KeptErasure(
        id=erased.id,
        what=erased.what,
        at=erased.at,
        counts=erased.counts,
        digest=erased.digest,
        receipt=receipt,
    )
    return Logged(tenant=erased.scope.tenant, user=erased.scope.user, erasure=kept)


def _receipt(erased: Erased, *, at: datetime | None = None, verified: tuple[str, ...] = ()) -> Receipt:
    return Receipt(
        id=erased.id,
        user=erased.scope.user,
        what=erased.what,
        counts={"ledger": erased.counts},
        digest=erased.digest,
        requested_at=erased.at,
        at=at,
        verified=verified,
        notes=_notes(erased),
    )


def _notes(erased: Erased) -> tuple[str, ...]:
    if erased.what.fact is None or not erased.counts["fact_sources"]:
        return ()
    return ("the messages that said it are kept: forget them by message= to be rid of their words, too",)
