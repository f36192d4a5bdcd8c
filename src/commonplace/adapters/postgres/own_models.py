"""Users whose vectors are of a model of their own: who they are, and how that is changed.

Their vectors are in a table of their own, so a switch of everybody's model does not touch them.
"""

from collections.abc import Mapping

from commonplace.adapters.postgres import partitions, upkeep
from commonplace.adapters.postgres.columns import Connection, optional_text_column, text_column, text_of
from commonplace.adapters.postgres.partitions import Partition
from commonplace.domain.errors import Conflict
from commonplace.domain.scope import Scope
from commonplace.ports.models import same_model

_MOVE = """
    with gone as (delete from {old} where row > %s and row <= %s returning row, vector, tokens)
    insert into {new} (row, vector, tokens) select row, vector, tokens from gone
"""


async def of_tenant(connection: Connection, tenant: str) -> Mapping[Scope, str]:
    rows = await connection.execute(
        'select tenant, "user", own_model from partitions where tenant = %s and own_model is not null order by no',
        (text_column(tenant),),
    )
    return {partitions.scope_of(tenant, user): text_of(model) for tenant, user, model in await rows.fetchall()}


async def any_there(connection: Connection) -> bool:
    found = await connection.execute("select 1 from partitions where own_model is not null limit 1")
    return await found.fetchone() is not None


async def record(connection: Connection, scope: Scope, model: str | None, *, clear: bool) -> None:
    partition = await (partitions.lock if model is None else partitions.obtain)(connection, scope)
    if partition is None or partition.own == model:
        return
    if same_model(partition.model, model or await upkeep.embedder_identity(connection)):
        await _move(connection, partition, own=model is not None)
    else:
        await _leave_none(connection, partition, clear=clear)
    await connection.execute(
        "update partitions set own_model = %s, version = version + 1 where no = %s",
        (optional_text_column(model), partition.no),
    )


async def _move(connection: Connection, partition: Partition, *, own: bool) -> None:
    new = partitions.OWN if own else partitions.vectors_of(partition.generation)
    if new != partition.vectors:
        await connection.execute(_MOVE.format(old=partition.vectors, new=new), (partition.base, partition.last))


async def _leave_none(connection: Connection, partition: Partition, *, clear: bool) -> None:
    bounds = (partition.base, partition.last)
    if clear:
        for table in partitions.VECTORS:
            await connection.execute(f"delete from {table} where row > %s and row <= %s", bounds)
        return
    found = await connection.execute(f"select 1 from {partition.vectors} where row > %s and row <= %s limit 1", bounds)
    if await found.fetchone() is not None:
        raise Conflict(f"this user has vectors of {partition.model!r}")
