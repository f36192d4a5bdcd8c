"""export: the ledger's archive of one user, line by line into a spool, while everything else goes on."""

import asyncio
from contextlib import aclosing
from os import PathLike

from commonplace.care.export import Export, Spool
from commonplace.domain.progress import Progress
from commonplace.domain.scope import Scope
from commonplace.engine.attaching import Attaching
from commonplace.engine.filling import Filling
from commonplace.engine.parts import Parts
from commonplace.engine.pieces import with_files


class Exporting:
    def __init__(self, parts: Parts, filling: Filling, attaching: Attaching) -> None:
        self._parts, self._filling, self._attaching = parts, filling, attaching

    async def export(
        self, scope: Scope, *, to: str | PathLike[str] | None, vectors: bool, progress: Progress
    ) -> Export:
        """Everything about one user, as of one moment. With `to`, straight into that file."""
        if vectors:
            await self._filling.settle(scope)
        counts = await self._parts.ledger.counts_of(scope)
        total = counts.messages + counts.fact_versions
        spool = await asyncio.to_thread(Spool, to)
        try:
            ledger = self._parts.ledger
            async with aclosing(ledger.read_archive(scope, passages=vectors)) as batches:
                async for batch in with_files(batches, ledger, self._attaching):
                    await asyncio.to_thread(spool.take, batch)
                    progress("Exporting", spool.records, max(total, spool.records))
            return await asyncio.to_thread(spool.finish, scope.user)
        except BaseException:
            spool.give_up()
            raise
