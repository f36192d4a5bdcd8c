"""One change, in one transaction: messages, versions of facts, and why they are believed.

A message that is already there is left alone. A change that finds nothing to do leaves no trace, not even a version.
"""

from collections.abc import Sequence
from typing import NamedTuple

from psycopg import errors

from commonplace.adapters.postgres import jobs, partitions
from commonplace.adapters.postgres.columns import Connection, text_column, text_of
from commonplace.adapters.postgres.full_text import Unpack
from commonplace.adapters.postgres.partitions import Partition
from commonplace.adapters.postgres.writer import Writer
from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from commonplace.ports.ledger import Change
from commonplace.ports.models import HeldBack


async def write_all(
    connection: Connection, scope: Scope, changes: Sequence[Change], *, unpack: Unpack | None
) -> "Written":
    """Write changes in their order."""
    written = [await write(connection, scope, change, unpack=unpack) for change in changes]
    known = frozenset[MessageId]().union(*(one.known for one in written))
    return Written(known, max((one.generation for one in written), default=0))


class Written(NamedTuple):
    known: frozenset[MessageId]
    """The ids of messages that were already there."""
    generation: int
    """Of the vectors, as far as it was seen."""


async def write(connection: Connection, scope: Scope, change: Change, *, unpack: Unpack | None) -> Written:
    """Write it, as `ports.ledger.Writing` promises. `unpack` is for users whose rows are in the full text."""
    ids = [new.message.id for new in change.messages]
    found, rows = await partitions.lock_knowing(connection, scope, [text_column(id_) for id_ in ids])
    _check_current(found, change)
    await _finish_jobs(connection, change.finished_jobs)
    if not (change.messages or change.summaries or change.jobs or _is_of_facts(change)):
        return Written(frozenset(), 0 if found is None else found.generation)
    if found is None:
        found = await partitions.obtain(connection, scope)
        _check_current(found, change)
    if found.held and (change.messages or change.versions or change.summaries):
        raise HeldBack
    writer = Writer(connection, found, unpack)
    writer.knows({MessageId(text_of(id_)): row for id_, row in rows.items()}, asked=ids)
    try:
        return Written(await _write(writer, change), found.generation)
    except errors.UniqueViolation as error:
        # Somebody added the same message while this waited for the partition. The next attempt sees it.
        raise errors.SerializationFailure("written by somebody else at the same time") from error


def _is_of_facts(change: Change) -> bool:
    return bool(change.closed or change.versions or change.reinforced or change.sources or change.history)


async def _write(writer: Writer, change: Change) -> frozenset[MessageId]:
    of_facts = _is_of_facts(change)
    known = await writer.messages(change.messages, session_ttl=change.session_ttl)
    if of_facts:
        await writer.facts(change)
    for new in change.summaries:
        await writer.insert_summary(new)
    if not change.messages or len(known) < len(change.messages):
        await writer.enqueue(change.jobs)
    if of_facts or writer.added:
        await writer.finish(of_facts=of_facts)
    await writer.flush()
    return known


def _check_current(partition: Partition | None, change: Change) -> None:
    epoch, fact_version = (partition.epoch, partition.fact_version) if partition else (0, 0)
    if change.epoch is not None and change.epoch != epoch:
        raise Overtaken("there was a forget since this was read")
    if change.facts_seen is not None and change.facts_seen != fact_version:
        raise Conflict("the facts of this user have changed since they were read")


async def _finish_jobs(connection: Connection, finished: Sequence[str]) -> None:
    for job in finished:
        if not await jobs.finish(connection, job):
            raise Overtaken(f"job {job!r} is finished already")
