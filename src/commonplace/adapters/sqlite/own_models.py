"""Users whose vectors are of a model of their own: who they are, and how that is changed."""

from collections.abc import Mapping

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, optional_text_column, optional_text_of, text_column, text_of
from commonplace.adapters.sqlite.partitions import Partition
from commonplace.domain.errors import Conflict
from commonplace.domain.scope import Scope
from commonplace.ports.models import same_model

_TABLES = ("vectors", "vectors_aside")


def of_tenant(connection: Connection, tenant: str) -> Mapping[Scope, str]:
    rows = connection.execute(
        "select tenant, user, own_model from partitions where tenant = ? and own_model is not null order by no",
        (text_column(tenant),),
    )
    return {partitions.scope_of(tenant, user): text_of(model) for tenant, user, model in rows}


def any_there(connection: Connection) -> bool:
    return connection.execute("select 1 from partitions where own_model is not null").fetchone() is not None


def record(connection: Connection, scope: Scope, model: str | None, *, clear: bool) -> None:
    partition = partitions.find(connection, scope) if model is None else partitions.obtain(connection, scope)
    if partition is None or optional_text_of(partition.own_model) == model:
        return
    common = partitions.common(connection)
    recorded = common.model_of(partition)
    if not same_model(recorded, model or common.embedder):
        _leave_none(connection, partition, recorded, clear=clear)
    connection.execute(
        "update partitions set own_model = ?, version = version + 1 where no = ?",
        (optional_text_column(model), partition.no),
    )


def _leave_none(connection: Connection, partition: Partition, recorded: str | None, *, clear: bool) -> None:
    bounds = (partition.base, partition.last)
    if clear:
        for table in _TABLES:
            connection.execute(f"delete from {table} where row > ? and row <= ?", bounds)
    elif connection.execute("select 1 from vectors where row > ? and row <= ? limit 1", bounds).fetchone():
        raise Conflict(f"this user has vectors of {recorded!r}")


def keep_in_place(connection: Connection) -> None:
    """Bring back the vectors that were put aside with those of everybody else by a switch."""
    for (no,) in connection.execute("select no from partitions where own_model is not null").fetchall():
        bounds = (no << partitions.SHIFT, (no << partitions.SHIFT) | partitions.N_MASK)
        connection.execute("delete from vectors where row > ? and row <= ?", bounds)
        connection.execute("insert into vectors select * from vectors_aside where row > ? and row <= ?", bounds)
        connection.execute("delete from vectors_aside where row > ? and row <= ?", bounds)
