"""The tables of the index. Small collections share one and are searched exactly; a large one has its own, with an HNSW.

One HNSW for everybody would lose results: it finds the nearest rows of all users first and drops those of others
afterwards (recall 0.59 with 1,000 rows among 100,000).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from psycopg import AsyncConnection, errors, sql
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

from commonplace.adapters.pgvector import statistics
from commonplace.ports.index import Near
from commonplace.ports.ledger import Vector

Connection = AsyncConnection[tuple[Any, ...]]

LOCK = 0x436D7667
"""The advisory lock of who makes the tables ("Cmvg")."""
MOST_AS_VECTOR, MOST_AS_HALF = 2_000, 4_000
"""Numbers in a vector that pgvector's HNSW takes, with 32 and with 16 bits each. Longer ones are searched exactly."""
LOOKED_AT = 400
"""`ef_search`: twice what a search usually asks for. Where more is asked for, the graph is searched on."""
REWRITTEN = 256 * 2**20
"""Bytes up to which the shared table is written anew when something is erased."""
PATIENCE = 1.0
"""Seconds to wait for it while others use it, and then to let them."""
ATTEMPTS = 10

SHARED = sql.Identifier("commonplace_index_rows")
SCHEMA = """
create table if not exists commonplace_index_collections (
    id bigint generated always as identity primary key,
    name text not null unique,
    identity text not null,
    dimensions int
);
create table if not exists commonplace_index_rows (
    collection bigint not null,
    n bigint not null,
    embedding vector not null,
    primary key (collection, n)
);
alter table commonplace_index_rows alter embedding set storage main;
"""


class PackedVector(bytes):
    """A vector as pgvector receives it: how many numbers, 16 bits of nothing, then big-endian floats."""


class VectorDumper(Dumper):
    """Of no type: the server takes it for what the cast beside it says."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: PackedVector) -> Buffer:
        return obj


def packed(vector: Vector) -> PackedVector:
    numbers = np.asarray(vector, dtype=">f4")
    return PackedVector(len(numbers).to_bytes(2, "big") + b"\0\0" + numbers.tobytes())


class Collection(NamedTuple):
    id: int
    identity: str
    dimensions: int | None
    """Set when it has a table of its own."""

    @property
    def table(self) -> sql.Identifier:
        return SHARED if self.dimensions is None else sql.Identifier(f"commonplace_index_{self.id}")

    @property
    def ours(self) -> sql.Composable:
        return sql.SQL("collection = {}").format(self.id) if self.dimensions is None else sql.SQL("true")

    def nearness(self, vector: sql.Composable) -> sql.Composable:
        """The expression that the HNSW was built on, if there is one."""
        if self.dimensions is None or self.dimensions <= MOST_AS_VECTOR:
            return sql.SQL("embedding <=> {}::vector").format(vector)
        half = sql.SQL("halfvec({})").format(sql.Literal(self.dimensions))
        return sql.SQL("embedding::{0} <=> {1}::vector::{0}").format(half, vector)


async def see_vector(connection: Connection) -> None:
    """Let a connection find pgvector, which need not have been created in the schema that the tables are in."""
    await connection.execute(
        "select set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''),"
        " quote_ident(nspname)), false) from pg_extension join pg_namespace s on s.oid = extnamespace"
        " where extname = 'vector' and nspname <> all (current_schemas(true)) and current_schema() is not null"
    )


async def create(connection: Connection) -> None:
    """Make the tables, unless they are there. Many processes may start at once."""
    await see_vector(connection)
    async with connection.transaction():
        await connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        cursor = await connection.execute(
            "select to_regclass(quote_ident(current_schema()) || '.commonplace_index_rows') is not null"
        )
        row = await cursor.fetchone()
        if row and not row[0]:
            await connection.execute("create extension if not exists vector")
            for statement in filter(str.strip, SCHEMA.split(";")):
                await connection.execute(statement.encode())
        await statistics.leave_none(connection)


async def find(connection: Connection, name: str, *, lock: str = "") -> Collection | None:
    asked = "select id, identity, dimensions from commonplace_index_collections where name = %s " + lock
    row = await (await connection.execute(asked.encode(), (name,))).fetchone()
    return None if row is None else Collection(*row)


async def obtain(connection: Connection, name: str) -> Collection:
    """Return a collection that nobody moves or drops until the transaction ends; a new one if there is none."""
    while True:
        found = await find(connection, name, lock="for share")
        if found is not None:
            return found
        await connection.execute(
            "insert into commonplace_index_collections (name, identity) values (%s, %s) on conflict do nothing",
            (name, uuid4().hex),
        )


async def upsert(connection: Connection, into: Collection, vectors: Mapping[int, Vector]) -> None:
    shared = into.dimensions is None
    columns, key = ("collection, n, embedding", "collection, n") if shared else ("n, embedding", "n")
    chosen = sql.SQL("{}, ").format(into.id) if shared else sql.SQL("")
    statement = sql.SQL(
        "insert into {} ({}) values ({}%s, %s::vector) on conflict ({}) do update set embedding = excluded.embedding"
    ).format(into.table, sql.SQL(columns), chosen, sql.SQL(key))
    async with connection.cursor() as cursor:
        await cursor.executemany(statement, [(n, packed(vector)) for n, vector in sorted(vectors.items())])


async def remove(connection: Connection, place: Collection, numbers: Sequence[int]) -> None:
    statement = sql.SQL("delete from {} where {} and n = any(%s)").format(place.table, place.ours)
    await connection.execute(statement, (list(numbers),))


class Found(NamedTuple):
    place: Collection
    near: Sequence[Near]


_AMONG_ALL = """
    select c.id, c.identity, c.dimensions, r.n, r.distance from commonplace_index_collections c
    left join lateral (
        select n, embedding <=> %(vector)s::vector as distance from commonplace_index_rows
        where collection = c.id order by distance limit %(limit)s
    ) r on true
    where c.name = %(name)s order by r.distance
"""


async def search(connection: Connection, name: str, vector: Vector, *, limit: int) -> Found | None:
    """Look a collection up and search it exactly, in one statement; one with its own table is only looked up."""
    given = {"name": name, "vector": packed(vector), "limit": max(limit, 0)}
    rows = await (await connection.execute(_AMONG_ALL, given)).fetchall()
    if not rows:
        return None
    return Found(Collection(*rows[0][:3]), [Near(row[3], _score(row[4])) for row in rows if row[3] is not None])


async def search_own(connection: Connection, place: Collection, vector: Vector, *, limit: int) -> Sequence[Near]:
    """Search a collection by the graph of its own table, which goes when the collection goes."""
    statement = sql.SQL("select n, {0} as distance from {1} order by {0} limit {2}").format(
        place.nearness(sql.Placeholder("vector")), place.table, sql.Placeholder("limit")
    )
    rows = await connection.execute(statement, {"vector": packed(vector), "limit": max(limit, 0)})
    return [Near(n, _score(distance)) for n, distance in await rows.fetchall()]


def _score(distance: float) -> float:
    """From pgvector's cosine distance of 0 to 2. It is no number for a vector of zeros."""
    return 0.5 if np.isnan(distance) else min(max(1 - distance / 2, 0.0), 1.0)


async def count(connection: Connection, place: Collection) -> int:
    statement = sql.SQL("select count(*) from {} where {}").format(place.table, place.ours)
    row = await (await connection.execute(statement)).fetchone()
    return 0 if row is None else int(row[0])


async def numbers(connection: Connection, place: Collection) -> frozenset[int]:
    statement = sql.SQL("select n from {} where {}").format(place.table, place.ours)
    return frozenset(row[0] for row in await (await connection.execute(statement)).fetchall())


async def sizes(connection: Connection) -> Mapping[str, int]:
    every = "select name, id, identity, dimensions from commonplace_index_collections order by name"
    found = [(row[0], Collection(*row[1:])) for row in await (await connection.execute(every)).fetchall()]
    together = "select collection, count(*) from commonplace_index_rows group by collection"
    shared: dict[int, int] = dict(await (await connection.execute(together)).fetchall())
    return {
        name: shared.get(place.id, 0) if place.dimensions is None else await count(connection, place)
        for name, place in found
    }


async def left(connection: Connection, names: Sequence[str]) -> int:
    """Return how many rows the collections of these names have."""
    found = [await find(connection, name) for name in names]
    return sum([await count(connection, place) for place in found if place is not None])


async def drop(connection: Connection, name: str) -> None:
    place = await find(connection, name, lock="for update")
    if place is None:
        return
    if place.dimensions is None:
        await connection.execute("delete from commonplace_index_rows where collection = %s", (place.id,))
    else:
        await connection.execute(sql.SQL("drop table {}").format(place.table))
    await connection.execute("delete from commonplace_index_collections where id = %s", (place.id,))


async def grow(connection: Connection, name: str, *, beyond: int) -> bool:
    """Give a collection of more rows than that a table of its own with an HNSW. Returns whether it has one now."""
    place = await find(connection, name, lock="for update")
    if place is None or place.dimensions is not None:
        return place is not None
    if await count(connection, place) <= beyond:
        return False
    known = "select min(vector_dims(embedding)), max(vector_dims(embedding)) from commonplace_index_rows"
    row = await (await connection.execute(known + " where collection = %s", (place.id,))).fetchone()
    if row is None or row[0] != row[1] or row[0] > MOST_AS_HALF:
        return False
    await _move(connection, place, place._replace(dimensions=row[0]))
    return True


async def _move(connection: Connection, place: Collection, own: Collection) -> None:
    assert own.dimensions is not None
    await connection.execute("select set_config('statement_timeout', '0', true)")
    await connection.execute("select set_config('maintenance_work_mem', '256MB', true)")
    statements = [
        "create table {own} (n bigint primary key, embedding vector({dimensions}) not null)",
        "alter table {own} alter embedding set storage main",
        "alter table {own} alter embedding set statistics 0",
        "alter table {own} alter n set statistics 0",
        "insert into {own} select n, embedding from commonplace_index_rows where collection = {id}",
        "delete from commonplace_index_rows where collection = {id}",
        "update commonplace_index_collections set dimensions = {dimensions} where id = {id}",
        "create index on {own} using hnsw (({what}) {ops}) with (m = 24, ef_construction = 128)",
    ]
    whole = own.dimensions <= MOST_AS_VECTOR
    half = sql.SQL("embedding::halfvec({})").format(sql.Literal(own.dimensions))
    for statement in statements:
        await connection.execute(
            sql.SQL(statement).format(
                own=own.table,
                id=sql.Literal(place.id),
                dimensions=sql.Literal(own.dimensions),
                what=sql.Identifier("embedding") if whole else half,
                ops=sql.SQL("vector_cosine_ops" if whole else "halfvec_cosine_ops"),
            )
        )


async def rewrite(connection: Connection) -> None:
    """Leave nothing of rows that were deleted in the shared table, unless that would take too long for the others.

    Who waits for a table that others use has everybody else wait behind it: so it is tried for a moment, and again.
    Once it has begun, it may take its time.
    """
    await see_vector(connection)
    async with connection.transaction():
        await statistics.leave_none(connection)
    row = await (await connection.execute("select pg_total_relation_size('commonplace_index_rows')")).fetchone()
    full = row is not None and int(row[0]) <= REWRITTEN
    await connection.execute("select set_config('lock_timeout', %s, false)", (f"{round(PATIENCE * 1000)}ms",))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            await connection.execute(
                b"vacuum (full) commonplace_index_rows" if full else b"vacuum commonplace_index_rows"
            )
        except errors.LockNotAvailable:
            if attempt == ATTEMPTS:
                raise
            await asyncio.sleep(PATIENCE)
        else:
            return
