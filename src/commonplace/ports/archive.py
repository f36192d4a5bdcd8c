"""The archive: all of a ledger, or of one user, out as plain records, and into any other ledger.

This is the seam that export and import, snapshots, and the move from one engine to another stand on. The records are
`domain.archive.Record`; `care.lines` has their form as JSON lines. What a ledger keeps and cannot be made again from
the rest must have a record: a new table with such content extends the union, both directions and the contract suite.
Not in it are what can be rebuilt (full text, the cache of embeddings, what an index was fed), answers kept for a caller
who asks again, and the numbers of rows and versions, which are each ledger's own.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from commonplace.domain.archive import Held, Record, Written
from commonplace.domain.scope import Scope


class Archive(Protocol):
    def read_archive(
        self, scope: Scope | None = None, *, passages: bool = True
    ) -> AsyncGenerator[Sequence[Record], None]:
        """Yield everything of one user, or of every user of every tenant, in batches, all as of one moment.

        Writes go on meanwhile and are not seen. The first record is `Opened`; then, for each tenant, `OfTenant` with
        what is the tenant's own, and for each user `OfUser` with what is theirs. For one scope there are these marks
        too, even when it holds nothing, and nothing that is the tenant's own. Memory is bounded by the batch.
        Without `passages` the index entries are left out: less than a tenth of the size, and made anew from the texts.
        Close it (`contextlib.aclosing`) when it is not read to its end: it keeps a read transaction open.
        """
        ...

    async def write_archive(self, scope: Scope, records: Sequence[Held], *, model: str | None = None) -> Written:
        """Write records of one user in one transaction, durable on return. Their order is that of `read_archive`.

        What is there already is left as it is, so the same records twice are the same as once: messages, versions,
        sessions, jobs and erasures are known by their ids, blocks by name (the later `updated_at` wins), sources and
        changes by all they say. A version that is open here and closed in the record is closed.
        What is a tenant's own goes to the tenant of the scope: of `Spent` the larger count is kept; a `Key` is known by
        its id and, revoked in the record, is revoked here; a user who is on hold already stays so.
        `model` made their vectors: if it is not in use, they are left out. None: whoever calls knows that it is.
        Raises InvalidInput for a message or fact without passages.
        """
        ...
