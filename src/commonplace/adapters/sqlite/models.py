"""The vectors of another model, beside those in use, and how they take their place: `ports.models` in SQL."""

from collections.abc import Mapping, Sequence

from commonplace.adapters.sqlite import feed, own_models, partitions
from commonplace.adapters.sqlite.columns import (
    Connection,
    optional_text_column,
    optional_text_of,
    text_column,
    text_of,
    vector_column,
)
from commonplace.adapters.sqlite.partitions import N_MASK, Partition
from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions
from commonplace.ports.models import Aside, Model, ModelRecord

_LACKING = """
    select row from (
        select row from passages where row > :start and row <= :last
        union all
        select row from facts where row > :start and row <= :last
        union all
        select row from summaries where row > :start and row <= :last
    ) r where not exists (select 1 from {table} v where v.row = r.row) order by row limit :limit
"""
_TABLES = ("passages", "facts", "summaries")


def record(connection: Connection) -> ModelRecord:
    found = connection.execute("select identity, name, dimensions, aside from models").fetchall()
    known = {text_of(identity): _model(identity, name, dimensions) for identity, name, dimensions, _ in found}
    kept = [
        Aside(model=known[text_of(identity)], state=state, rows=_count(connection))
        for identity, _, _, state in found
        if state is not None
    ]
    common = partitions.common(connection)
    return ModelRecord(
        generation=common.generation,
        current=common.embedder,
        aside=kept[0] if kept else None,
        known=known,
    )


def everyone(connection: Connection) -> Mapping[Scope, Versions]:
    rows = connection.execute(f"select tenant, user, {partitions.COLUMNS} from partitions where rows > 0 order by no")
    return {partitions.scope_of(tenant, user): Partition(*rest).versions for tenant, user, *rest in rows}


def begin(connection: Connection, model: Model, *, current: Model) -> None:
    record(connection).may_begin(model, current=current)
    for one, state in ((current, None), (model, "building")):
        connection.execute(
            "insert or replace into models values (?, ?, ?, ?)",
            (text_column(one.identity), optional_text_column(one.name), one.dimensions, state),
        )


def lacking(connection: Connection, scope: Scope, *, after: int, limit: int, aside: bool) -> Feed:
    partition = partitions.find(connection, scope)
    if partition is None:
        return Feed(partitions.nothing(connection), [], [], [])
    named = {"start": partition.base | min(max(after, 0), N_MASK), "last": partition.last, "limit": max(limit, 1)}
    rows = connection.execute(_LACKING.format(table="vectors_aside" if aside else "vectors"), named)
    return feed.rows(connection, scope, [row & N_MASK for (row,) in rows], vectors=False)


def keep(
    connection: Connection, scope: Scope, vectors: Mapping[int, Vector], *, model: str, tokens: Mapping[int, bytes]
) -> None:
    _expect(connection, model)
    partition = partitions.find(connection, scope)
    for n, vector in vectors.items() if partition is not None else ():
        row = partition.base | n if partition is not None and partition.holds(n) else 0
        # It may have been forgotten while it was embedded.
        if any(connection.execute(f"select 1 from {table} where row = ?", (row,)).fetchone() for table in _TABLES):
            connection.execute(
                "insert or replace into vectors_aside values (?, ?, ?)", (row, vector_column(vector), tokens.get(n))
            )


def kept(connection: Connection, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
    return feed.vectors(connection, scope, numbers, table="vectors_aside")


def switch(connection: Connection, *, to: str, seen: Mapping[Scope, int] | None) -> int:
    _expect(connection, to)
    common = partitions.common(connection)
    before, generation = common.embedder, common.generation + 1
    taking_part = {scope: one.version for scope, one in everyone(connection).items() if one.model is None}
    if seen is not None and any(seen.get(scope) != version for scope, version in taking_part.items()):
        raise Overtaken("something was written since the vectors were made")
    for old, new in (
        ("vectors", "vectors_between"),
        ("vectors_aside", "vectors"),
        ("vectors_between", "vectors_aside"),
    ):
        connection.execute(f"alter table {old} rename to {new}")
    own_models.keep_in_place(connection)
    connection.execute("insert or replace into meta values ('embedder', ?)", (to,))
    connection.execute("insert or replace into meta values ('generation', ?)", (generation,))
    connection.execute("update models set aside = null")
    connection.execute("update models set aside = 'kept' where identity = ?", (text_column(before or ""),))
    return generation


def discard(connection: Connection, *, limit: int) -> int:
    connection.execute("update models set aside = 'clearing' where aside is not null")
    connection.execute(
        "delete from vectors_aside where row in (select row from vectors_aside order by row limit ?)", (limit,)
    )
    left = _count(connection)
    if not left:
        connection.execute("update models set aside = null")
    return left


def _expect(connection: Connection, model: str) -> None:
    """Raise Conflict unless vectors of this model are aside. Does not count them: every batch that is kept asks."""
    found = connection.execute("select identity, aside from models where aside is not null").fetchall()
    if [(text_column(model), True)] != [(identity, state != "clearing") for identity, state in found]:
        raise Conflict(f"no vectors of {model!r} are being made here by now")


def _count(connection: Connection) -> int:
    (rows,) = connection.execute("select count(*) from vectors_aside").fetchone()
    return int(rows)


def _model(identity: str | bytes, name: str | bytes | None, dimensions: int) -> Model:
    return Model(identity=text_of(identity), name=optional_text_of(name), dimensions=dimensions)
