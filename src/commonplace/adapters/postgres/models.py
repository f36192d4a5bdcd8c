"""The vectors of another model, beside those in use, and how they take their place: `ports.models` in SQL.

Who writes holds the table of partitions in a mode that `switch` waits for: so it knows which vectors are in use until
its end. Who reads sees the generation and the vectors of one moment.
"""

from collections.abc import Mapping, Sequence

from psycopg import errors

from commonplace.adapters.postgres import feed, partitions, upkeep
from commonplace.adapters.postgres.columns import (
    Connection,
    optional_text_column,
    optional_text_of,
    text_column,
    text_of,
    vector_column,
)
from commonplace.adapters.postgres.partitions import N_MASK, Partition
from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions
from commonplace.ports.models import Aside, Model, ModelRecord

PATIENCE = "1s"
"""How long a switch waits for those who write, for others wait behind it."""
_LACKING = feed.WITHIN.format("row", "and not exists (select 1 from {table} v where v.row = r.row)")
_THERE = " union all ".join(f"select row from {table} where row = any(%(rows)s)" for table in feed.INDEXED)


async def record(connection: Connection) -> ModelRecord:
    found = await connection.execute("select identity, name, dimensions, aside from models")
    rows = await found.fetchall()
    generation = await partitions.generation(connection)
    known = {text_of(identity): _model(identity, name, dimensions) for identity, name, dimensions, _ in rows}
    kept = [
        Aside(model=known[text_of(identity)], state=state, rows=await _count(connection, generation))
        for identity, _, _, state in rows
        if state is not None
    ]
    return ModelRecord(
        generation=generation,
        current=await upkeep.embedder_identity(connection),
        aside=kept[0] if kept else None,
        known=known,
    )


async def everyone(connection: Connection) -> Mapping[Scope, Versions]:
    rows = await connection.execute(
        f'select tenant, "user", {partitions.COLUMNS} from partitions where rows > 0 order by no'
    )
    return {
        partitions.scope_of(tenant, user): Partition(*rest).versions for tenant, user, *rest in await rows.fetchall()
    }


async def begin(connection: Connection, model: Model, *, current: Model) -> None:
    await _lock(connection)
    (await record(connection)).may_begin(model, current=current)
    for one, state in ((current, None), (model, "building")):
        await connection.execute(
            "insert into models values (%s, %s, %s, %s) on conflict (identity) do update"
            " set name = excluded.name, dimensions = excluded.dimensions, aside = excluded.aside",
            (text_column(one.identity), optional_text_column(one.name), one.dimensions, state),
        )


async def lacking(connection: Connection, scope: Scope, *, after: int, limit: int, aside: bool) -> Feed:
    partition = await partitions.find(connection, scope)
    if partition is None:
        return await feed.rows(connection, scope, [], vectors=False)
    named = {"start": partition.base | min(max(after, 0), N_MASK), "last": partition.last, "most": max(limit, 1)}
    table = partition.aside if aside else partition.vectors
    found = await connection.execute(f"{_LACKING.format(table=table)} order by row limit %(most)s", named)
    return await feed.rows(connection, scope, [row & N_MASK for (row,) in await found.fetchall()], vectors=False)


async def keep(
    connection: Connection, scope: Scope, vectors: Mapping[int, Vector], *, model: str, tokens: Mapping[int, bytes]
) -> None:
    await _expect(connection, model)
    partition = await partitions.lock(connection, scope)
    if partition is None:
        return
    # Some may have been forgotten while they were embedded.
    wanted = {partition.base | n: n for n in filter(partition.holds, vectors)}
    there = await connection.execute(_THERE, {"rows": list(wanted)})
    await connection.cursor().executemany(
        f"insert into {partition.aside} (row, vector, tokens) values (%s, %s, %s)"
        " on conflict (row) do update set vector = excluded.vector, tokens = excluded.tokens",
        [
            (row, vector_column(vectors[wanted[row]]), tokens.get(wanted[row]))
            for row in sorted(row for (row,) in await there.fetchall())
        ],
    )


async def kept(connection: Connection, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
    return await feed.vectors(connection, scope, numbers, aside=True)


async def switch(connection: Connection, *, to: str, seen: Mapping[Scope, int] | None) -> int:
    await connection.execute("select set_config('lock_timeout', %s, true)", (PATIENCE,))
    try:
        await _lock(connection)
        await connection.execute("lock table partitions in exclusive mode")
    except errors.LockNotAvailable as error:
        raise Overtaken("somebody has been writing for long") from error
    await _expect(connection, to)
    standing = await everyone(connection) if seen is not None else {}
    taking_part = {scope: one.version for scope, one in standing.items() if one.model is None}
    if seen is not None and any(seen.get(scope) != version for scope, version in taking_part.items()):
        raise Overtaken("something was written since the vectors were made")
    before, generation = await upkeep.embedder_identity(connection), await partitions.generation(connection) + 1
    for key, value in (("embedder", to), ("generation", str(generation))):
        await connection.execute(
            "insert into meta values (%s, %s) on conflict (key) do update set value = excluded.value", (key, value)
        )
    await connection.execute(
        "update models set aside = case when identity = %s then 'kept' end", (text_column(before or ""),)
    )
    return generation


async def discard(connection: Connection, *, limit: int) -> int:
    await _lock(connection)
    generation = await partitions.generation(connection)
    table = partitions.aside_of(generation)
    await connection.execute("update models set aside = 'clearing' where aside is not null")
    await connection.execute(
        f"delete from {table} where row in (select row from {table} order by row limit %s)", (limit,)
    )
    left = await _count(connection, generation)
    if not left:
        await connection.execute("update models set aside = null")
    return left


async def _lock(connection: Connection) -> None:
    """Let nobody else begin, keep, switch or discard until this transaction ends."""
    await connection.execute("lock table models in exclusive mode")


async def _expect(connection: Connection, model: str) -> None:
    """Raise Conflict unless vectors of this model are aside. Nobody removes them until this transaction ends."""
    found = await connection.execute("select identity, aside from models where aside is not null for share")
    if [(text_column(model), True)] != [(identity, state != "clearing") for identity, state in await found.fetchall()]:
        raise Conflict(f"no vectors of {model!r} are being made here by now")


async def _count(connection: Connection, generation: int) -> int:
    found = await (await connection.execute(f"select count(*) from {partitions.aside_of(generation)}")).fetchone()
    return 0 if found is None else int(found[0])


def _model(identity: str, name: str | None, dimensions: int) -> Model:
    return Model(identity=text_of(identity), name=optional_text_of(name), dimensions=dimensions)
