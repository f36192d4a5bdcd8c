"""The erasure log: forgets that are under way, and the receipts of those that are done."""

import json
from collections.abc import AsyncIterator, Sequence

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, json_column, text_column, text_of
from commonplace.adapters.postgres.partitions import SHIFT, VECTORS
from commonplace.domain.archive import KeptErasure
from commonplace.domain.receipt_json import part_json, part_of, receipt_json, receipt_of
from commonplace.domain.receipts import Receipt
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.ports.erasure import Erased

_PENDING = """
    select e.id, p.tenant, p."user", e.partition, e.version, e.what, e.at, e.counts, e.digest
    from erasures e join partitions p on p.no = e.partition where e.receipt is null order by e.no
"""
_PLACE = "snapshots at "
_REMAINS = ("messages", "passages", "facts", "summaries", *VECTORS, "full_text")


async def record(connection: Connection, erased: Erased) -> None:
    await connection.execute(
        "insert into erasures (id, partition, version, what, at, counts, digest) values (%s, %s, %s, %s, %s, %s, %s)",
        (
            text_column(erased.id),
            erased.number,
            erased.version,
            json_column(part_json(erased.what)),
            to_micros(erased.at),
            json_column(dict(erased.counts)),
            erased.digest,
        ),
    )


async def pending(connection: Connection) -> Sequence[Erased]:
    found = await connection.execute(_PENDING)
    return [
        Erased(
            id=text_of(id_),
            scope=partitions.scope_of(tenant, user),
            number=number,
            version=version,
            what=part_of(json.loads(what)),
            at=from_micros(at),
            counts=json.loads(counts),
            digest=digest,
        )
        for id_, tenant, user, number, version, what, at, counts, digest in await found.fetchall()
    ]


async def remains(connection: Connection, erased: Erased) -> int:
    left = 0
    for table in _REMAINS:
        found = await connection.execute(
            f"select count(*) from removals r join {table} t on t.row = r.row where r.changed = %s",
            (erased.number << SHIFT | erased.version,),
        )
        row = await found.fetchone()
        left += 0 if row is None else int(row[0])
    return left


async def conclude(connection: Connection, receipt: Receipt, erased: Erased) -> Receipt:
    concluded = await connection.execute(
        "update erasures set receipt = %s where id = %s and receipt is null",
        (json_column(receipt_json(receipt)), text_column(erased.id)),
    )
    if concluded.rowcount == 1:
        return receipt
    found = await connection.execute("select receipt from erasures where id = %s", (text_column(erased.id),))
    row = await found.fetchone()
    assert row is not None
    return receipt_of(json.loads(row[0]))


async def receipts(connection: Connection, scope: Scope) -> Sequence[Receipt]:
    partition = await partitions.find(connection, scope)
    found = await connection.execute(
        "select receipt from erasures where partition = %s and receipt is not null order by no",
        (partition.no if partition else 0,),
    )
    return [receipt_of(json.loads(receipt)) for (receipt,) in await found.fetchall()]


async def kept(connection: Connection, partition: int) -> AsyncIterator[KeptErasure]:
    """Yield the whole log of a partition, oldest first."""
    found = await connection.execute(
        "select id, what, at, counts, digest, receipt from erasures where partition = %s order by no", (partition,)
    )
    for id_, what, at, counts, digest, receipt in await found.fetchall():
        yield KeptErasure(
            id=text_of(id_),
            what=part_of(json.loads(what)),
            at=from_micros(at),
            counts=json.loads(counts),
            digest=digest,
            receipt=None if receipt is None else receipt_of(json.loads(receipt)),
        )


async def write_kept(connection: Connection, partition: int, erasure: KeptErasure) -> bool:
    """Take over a line of another ledger's log. Returns whether it is new. It has removed no rows of this one."""
    receipt = None if erasure.receipt is None else json_column(receipt_json(erasure.receipt))
    inserted = await connection.execute(
        "insert into erasures (id, partition, version, what, at, counts, digest, receipt)"
        " values (%s, %s, 0, %s, %s, %s, %s, %s) on conflict (id) do nothing",
        (
            text_column(erasure.id),
            partition,
            json_column(part_json(erasure.what)),
            to_micros(erasure.at),
            json_column(dict(erasure.counts)),
            erasure.digest,
            receipt,
        ),
    )
    return inserted.rowcount == 1


async def add_place(connection: Connection, place: str) -> None:
    await connection.execute(
        "insert into meta (key, value) values (%s, %s) on conflict (key) do nothing", (f"{_PLACE}{place}", place)
    )


async def places(connection: Connection) -> Sequence[str]:
    found = await connection.execute("select value from meta where starts_with(key, %s) order by key", (_PLACE,))
    return [str(place) for (place,) in await found.fetchall()]
