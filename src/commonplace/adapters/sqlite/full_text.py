"""Candidates by words, for users whose rows do not fit in memory.

The tokens are the hashes of the terms in hex, and the table keeps no content: there is no text in it. Its statistics
are those of all users together, which is good enough for candidates: they are scored again with the user's own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.partitions import N_MASK, Partition
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope

Unpack = Callable[[bytes], Sequence[int]]
"""From the packed terms of a row to their hashes."""

STEP = 2_000
"""Rows that are taken in by one transaction, so that other writers do not wait for all of them."""

_MISSING = """
    select row, terms from (
        select row, terms from passages where row > :after and row <= :last
        union all
        select row, terms from facts where row > :after and row <= :last
        union all
        select row, terms from summaries where row > :after and row <= :last
    ) r
    where not exists (select 1 from full_text_docsize d where d.id = r.row) order by row limit :step
"""


def build_step(connection: Connection, scope: Scope, *, after: int, unpack: Unpack) -> int | None:
    """Take in some of the rows past number `after` that are missing. Returns where to go on; None when all are in."""
    partition = partitions.obtain(connection, scope)
    connection.execute(
        "create virtual table if not exists full_text using fts5 (terms, content = '', tokenize = 'ascii')"
    )
    bounds = {"after": partition.base | after, "last": partition.last, "step": STEP}
    rows = connection.execute(_MISSING, bounds).fetchall()
    for row, terms in rows:
        add(connection, row, terms, unpack=unpack)
    if len(rows) == STEP:
        return int(rows[-1][0]) & N_MASK
    connection.execute("update partitions set full_text = 1 where no = ?", (partition.no,))
    return None


def add(connection: Connection, row: int, terms: bytes, *, unpack: Unpack) -> None:
    connection.execute("insert into full_text (rowid, terms) values (?, ?)", (row, " ".join(_spelled(unpack(terms)))))


def remove(connection: Connection, row: int, terms: bytes, *, unpack: Unpack) -> None:
    """Take out a row that is in it. The words must be those it was added with, or the table is damaged."""
    connection.execute(
        "insert into full_text (full_text, rowid, terms) values ('delete', ?, ?)",
        (row, " ".join(_spelled(unpack(terms)))),
    )


def exists(connection: Connection) -> bool:
    return connection.execute("select 1 from sqlite_master where name = 'full_text'").fetchone() is not None


def drop(connection: Connection) -> None:
    """Remove all of it, of all users."""
    connection.execute("drop table full_text")
    connection.execute("update partitions set full_text = 0 where full_text <> 0")


def give_up(connection: Connection, partition: Partition) -> None:
    """The full text falls behind: it has to be built again, which takes in only what is missing."""
    connection.execute("update partitions set full_text = 0 where no = ?", (partition.no,))


def matching(connection: Connection, scope: Scope, terms: Sequence[int], *, limit: int) -> Sequence[int]:
    if limit < 1:
        raise InvalidInput(f"limit={limit}: expected 1 or more")
    partition = _built(connection, scope)
    if not terms:
        return []
    rows = connection.execute(
        "select rowid from full_text where full_text match ? and rowid > ? and rowid <= ? order by rank limit ?",
        (" OR ".join(_spelled(terms)), partition.base, partition.last, limit),
    )
    return [row & N_MASK for (row,) in rows]


def holding(connection: Connection, scope: Scope, terms: Sequence[int]) -> Mapping[int, int]:
    partition = _built(connection, scope)
    count = "select count(*) from full_text where full_text match ? and rowid > ? and rowid <= ?"
    return {
        term: int(connection.execute(count, (spelled, partition.base, partition.last)).fetchone()[0])
        for term, spelled in zip(terms, _spelled(terms), strict=True)
    }


def _built(connection: Connection, scope: Scope) -> Partition:
    partition = partitions.find(connection, scope)
    if partition is None or not partition.full_text:
        raise InvalidInput("the full text of this user is not built: expected build_full_text before")
    return partition


def _spelled(terms: Iterable[int]) -> Iterable[str]:
    return (f"t{term:016x}" for term in terms)
