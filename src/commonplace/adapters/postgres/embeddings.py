"""Vectors of texts that were embedded before, by the hash of the text: a bounded cache, oldest out first."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from commonplace.adapters.postgres.columns import Connection
from commonplace.domain.times import to_micros
from commonplace.ports.ledger import Vector


async def cached(connection: Connection, identity: str, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
    rows = await connection.execute(
        "select digest, vector from embeddings where digest = any(%s) and identity = %s", (list(digests), identity)
    )
    return dict(await rows.fetchall())


async def cache(
    connection: Connection, identity: str, vectors: Mapping[bytes, Vector], *, now: datetime, keep: int
) -> None:
    # In one order, so that two who cache the same texts do not wait for each other. What is there already takes no
    # number, or the numbers would say that there is more.
    await connection.execute(
        "insert into embeddings (identity, digest, vector, cached_at)"
        " select %(identity)s, new.digest, new.vector, %(now)s"
        " from unnest(%(digests)s::bytea[], %(vectors)s::bytea[]) with ordinality as new (digest, vector, place)"
        " where not exists (select 1 from embeddings e where e.digest = new.digest and e.identity = %(identity)s)"
        " order by new.digest on conflict do nothing",
        {
            "identity": identity,
            "now": to_micros(now),
            "digests": list(vectors),
            "vectors": [np.asarray(vector, dtype=np.float32).tobytes() for vector in vectors.values()],
        },
    )
    await connection.execute("delete from embeddings where no <= (select max(no) from embeddings) - %s", (keep,))
