"""The erasure log: forgets that are under way, and the receipts of those that are done."""

import json
from collections.abc import Iterator, Sequence

from commonplace.adapters.sqlite import full_text, partitions
from commonplace.adapters.sqlite.columns import Connection, json_column, text_column, text_of
from commonplace.adapters.sqlite.partitions import SHIFT
from commonplace.domain.archive import KeptErasure
from commonplace.domain.receipt_json import part_json, part_of, receipt_json, receipt_of
from commonplace.domain.receipts import Receipt
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import Json
from commonplace.ports.erasure import Erased

_PENDING = """
    select e.id, p.tenant, p.user, e.partition, e.version, e.what, e.at, e.counts, e.digest
    from erasures e join partitions p on p.no = e.partition where e.receipt is null order by e.no
"""
_PLACE = "snapshots at "
_REMAINS = ("messages", "passages", "facts", "summaries", "vectors", "vectors_aside")


def loaded(column: str) -> Json:
    value: Json = json.loads(column)
    return value


def record(connection: Connection, erased: Erased) -> None:
    connection.execute(
        "insert into erasures (id, partition, version, what, at, counts, digest) values (?,?,?,?,?,?,?)",
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


def pending(connection: Connection) -> Sequence[Erased]:
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
        for id_, tenant, user, number, version, what, at, counts, digest in connection.execute(_PENDING)
    ]


def remains(connection: Connection, erased: Erased) -> int:
    tables = [*_REMAINS, *(["full_text_docsize"] if full_text.exists(connection) else [])]
    left = 0
    for table in tables:
        column = "id" if table == "full_text_docsize" else "row"
        (found,) = connection.execute(
            f"select count(*) from removals r join {table} t on t.{column} = r.row where r.changed = ?",
            (erased.number << SHIFT | erased.version,),
        ).fetchone()
        left += found
    return left


def conclude(connection: Connection, receipt: Receipt, erased: Erased) -> Receipt:
    (kept,) = connection.execute("select receipt from erasures where id = ?", (text_column(erased.id),)).fetchone()
    if kept is not None:
        return receipt_of(json.loads(kept))
    connection.execute(
        "update erasures set receipt = ? where id = ?", (json_column(receipt_json(receipt)), text_column(erased.id))
    )
    return receipt


def receipts(connection: Connection, scope: Scope) -> Sequence[Receipt]:
    partition = partitions.find(connection, scope)
    rows = connection.execute(
        "select receipt from erasures where partition = ? and receipt is not null order by no",
        (partition.no if partition else 0,),
    )
    return [receipt_of(json.loads(receipt)) for (receipt,) in rows]


def kept(connection: Connection, partition: int) -> Iterator[KeptErasure]:
    """Yield the whole log of a partition, oldest first."""
    rows = connection.execute(
        "select id, what, at, counts, digest, receipt from erasures where partition = ? order by no", (partition,)
    )
    for id_, what, at, counts, digest, receipt in rows:
        yield KeptErasure(
            id=text_of(id_),
            what=part_of(json.loads(what)),
            at=from_micros(at),
            counts=json.loads(counts),
            digest=digest,
            receipt=None if receipt is None else receipt_of(json.loads(receipt)),
        )


def write_kept(connection: Connection, partition: int, erasure: KeptErasure) -> bool:
    """Take over a line of another ledger's log. Returns whether it is new. It has removed no rows of this one."""
    receipt = None if erasure.receipt is None else json_column(receipt_json(erasure.receipt))
    inserted = connection.execute(
        "insert or ignore into erasures (id, partition, version, what, at, counts, digest, receipt)"
        " values (?,?,0,?,?,?,?,?)",
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


def add_place(connection: Connection, place: str) -> None:
    connection.execute("insert or ignore into meta values (?, ?)", (f"{_PLACE}{place}", place))


def places(connection: Connection) -> Sequence[str]:
    found = connection.execute("select value from meta where key like ? order by key", (f"{_PLACE}%",))
    return [str(place) for (place,) in found]
