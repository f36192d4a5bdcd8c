"""Vectors of texts that were embedded before, by the hash of the text: a bounded cache, oldest out first."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from commonplace.adapters.sqlite.columns import Connection, vector_column
from commonplace.domain.times import to_micros
from commonplace.ports.ledger import Vector


def cached(connection: Connection, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for digest in digests:
        row = connection.execute(
            "select vector from embeddings where digest = ? and identity = ?", (digest, identity)
        ).fetchone()
        if row is not None:
            found[digest] = row[0]
    return found


def cache(connection: Connection, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime, keep: int) -> None:
    connection.executemany(
        "insert or ignore into embeddings (identity, digest, vector, cached_at) values (?, ?, ?, ?)",
        [(identity, digest, vector_column(vector), to_micros(now)) for digest, vector in vectors.items()],
    )
    connection.execute("delete from embeddings where no <= (select max(no) from embeddings) - ?", (keep,))
