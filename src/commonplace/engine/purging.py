"""purge: what has expired, or is older than its retention allows, is forgotten; whoever is on hold is left alone."""

from collections.abc import Sequence

from commonplace.domain.progress import Progress, unseen
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.results import Purged
from commonplace.domain.retention import Due
from commonplace.domain.scope import Scope
from commonplace.engine.forgetting import Forgetting
from commonplace.engine.parts import Parts


class Purging:
    def __init__(self, parts: Parts, forgetting: Forgetting) -> None:
        self._parts, self._forgetting = parts, forgetting

    async def purge(self, *, only: Scope | None = None, dry_run: bool = False, progress: Progress = unseen) -> Purged:
        """Forget what is due, of every user of this tenant, or of one. A dry run says what would go."""
        tenant, now = self._parts.options.tenant, self._parts.now()
        due = self._parts.options.retention.due(tenant, at=now)
        held = {hold.user for hold in await self._parts.ledger.holds(tenant)}
        whose = [*await self._parts.ledger.scopes(tenant)] if only is None else [only]
        scopes = [one for one in whose if await self._is_due(one, due)]
        free = [scope for scope in scopes if scope.user not in held]
        receipts: Sequence[Receipt] = []
        if free:
            whats = {scope: Part(due=due) for scope in free}
            receipts = await self._forgetting.forget_each(whats, dry_run=dry_run, progress=progress)
        if not dry_run:
            await self._parts.ledger.clean_sessions(now=now)
        return Purged(
            at=now,
            receipts=tuple(receipts),
            held=tuple(scope.user for scope in scopes if scope.user in held),
            applied=not dry_run,
        )

    async def _is_due(self, scope: Scope, due: Due) -> bool:
        messages = await self._parts.ledger.chosen(scope, Part(due=due))
        return bool(messages or await self._parts.ledger.due_facts(scope, due))
