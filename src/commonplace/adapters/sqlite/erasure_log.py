"""The erasure log: forgets that are under way, and the receipts of those that are done."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from commonplace.adapters.sqlite import full_text, partitions
from commonplace.adapters.sqlite.columns import Connection, json_column, text_column, text_of
from commonplace.adapters.sqlite.partitions import SHIFT
from commonplace.domain.archive import KeptErasure
from commonplace.domain.receipts import Part, Receipt
from commonplace.domain.retention import Due
from commonplace.domain.scope import Scope
from commonplace.domain.times import from_micros, to_micros
from commonplace.domain.values import FactId, Json, MessageId, SessionId
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
            json_column(_part_column(erased.what)),
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
            what=_part_of(json.loads(what)),
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
        return _receipt_of(json.loads(kept))
    connection.execute(
        "update erasures set receipt = ? where id = ?", (json_column(_receipt_column(receipt)), text_column(erased.id))
    )
    return receipt


def receipts(connection: Connection, scope: Scope) -> Sequence[Receipt]:
    partition = partitions.find(connection, scope)
    rows = connection.execute(
        "select receipt from erasures where partition = ? and receipt is not null order by no",
        (partition.no if partition else 0,),
    )
    return [_receipt_of(json.loads(receipt)) for (receipt,) in rows]


def kept(connection: Connection, partition: int) -> Iterator[KeptErasure]:
    """Yield the whole log of a partition, oldest first."""
    rows = connection.execute(
        "select id, what, at, counts, digest, receipt from erasures where partition = ? order by no", (partition,)
    )
    for id_, what, at, counts, digest, receipt in rows:
        yield KeptErasure(
            id=text_of(id_),
            what=_part_of(json.loads(what)),
            at=from_micros(at),
            counts=json.loads(counts),
            digest=digest,
            receipt=None if receipt is None else _receipt_of(json.loads(receipt)),
        )


def write_kept(connection: Connection, partition: int, erasure: KeptErasure) -> bool:
    """Take over a line of another ledger's log. Returns whether it is new. It has removed no rows of this one."""
    receipt = None if erasure.receipt is None else json_column(_receipt_column(erasure.receipt))
    inserted = connection.execute(
        "insert or ignore into erasures (id, partition, version, what, at, counts, digest, receipt)"
        " values (?,?,0,?,?,?,?,?)",
        (
            text_column(erasure.id),
            partition,
            json_column(_part_column(erasure.what)),
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


def _part_column(part: Part) -> dict[str, Json]:
    return {
        "session": part.session,
        "before": None if part.before is None else to_micros(part.before),
        "message": part.message,
        "fact": part.fact,
        **({"due": _due_column(part.due)} if part.due is not None else {}),
    }


def _due_column(due: Due) -> Json:
    return {
        "at": to_micros(due.at),
        "said_before": {kind: to_micros(moment) for kind, moment in due.said_before.items()},
    }


def _due_of(column: dict[str, Any]) -> Due:
    said_before = {kind: from_micros(moment) for kind, moment in column["said_before"].items()}
    return Due(at=from_micros(column["at"]), said_before=said_before)


def _part_of(column: dict[str, Any]) -> Part:
    session, before, message, fact = (column[name] for name in ("session", "before", "message", "fact"))
    return Part(
        session=None if session is None else SessionId(session),
        before=None if before is None else from_micros(before),
        message=None if message is None else MessageId(message),
        fact=None if fact is None else FactId(fact),
        due=_due_of(column["due"]) if "due" in column else None,
    )


def _receipt_column(receipt: Receipt) -> dict[str, Json]:
    assert receipt.at is not None
    return {
        "id": receipt.id,
        "user": receipt.user,
        "what": _part_column(receipt.what),
        "counts": {store: dict(counts) for store, counts in receipt.counts.items()},
        "digest": receipt.digest,
        "requested_at": to_micros(receipt.requested_at),
        "at": to_micros(receipt.at),
        "verified": list(receipt.verified),
        "notes": list(receipt.notes),
    }


def _receipt_of(column: dict[str, Any]) -> Receipt:
    return Receipt(
        id=column["id"],
        user=column["user"],
        what=_part_of(column["what"]),
        counts=column["counts"],
        digest=column["digest"],
        requested_at=from_micros(column["requested_at"]),
        at=from_micros(column["at"]),
        verified=tuple(column["verified"]),
        notes=tuple(column["notes"]),
    )
