"""A million rows in minutes: those of users who are not asked about are copied inside the server from one who is.

A user's recall and add do not look at them; what is measured is whether they cost anything all the same.
"""

import psycopg

from commonplace.adapters.postgres.gathering import COLUMNS
from commonplace.adapters.postgres.partitions import N_MASK, SHIFT

_MODEL = "select * from partitions where tenant = %(tenant)s and \"user\" = '0'"
_OTHERS = 'select * from partitions where tenant = %(tenant)s and "user" <> all(%(watched)s)'
# `offset 0` keeps the order of the loops: for each user a short range of rows, and never all rows for each user.
_FROM = f"""
    from ({_MODEL}) w cross join ({_OTHERS}) q cross join lateral (
        select * from {{table}} held
        where held.row >= (w.no << {SHIFT}) | q.next_row and held.row < (w.no << {SHIFT}) | w.next_row offset 0
    ) t
"""


async def copy_rows(connection: psycopg.AsyncConnection, *, tenant: str, watched: list[str]) -> None:
    """Give every other user of this tenant as many rows as the first one has."""
    named = {"tenant": tenant, "watched": watched}
    own = {
        "messages": {"row": _of("row"), "partition": "q.no", "id": "'copy of ' || t.id"},
        "passages": {"row": _of("row"), "first": _of("first"), "changed": f"(q.no << {SHIFT}) | (q.version + 1)"},
        "vectors": {"row": _of("row")},
    }
    for table, changed in own.items():
        columns = COLUMNS[table].split(", ")
        values = ", ".join(changed.get(column, f"t.{column}") for column in columns)
        await connection.execute(
            f"insert into {table} ({COLUMNS[table]}, tenant) select {values}, q.tenant {_FROM.format(table=table)}",
            named,
        )
    await connection.execute(
        f"update partitions p set version = p.version + 1, next_row = w.next_row,"
        f" rows = (select count(*) from passages t where t.row >= p.no << {SHIFT} and t.row < (p.no + 1) << {SHIFT})"
        f' from ({_MODEL}) w where p.tenant = %(tenant)s and p."user" <> all(%(watched)s)',
        named,
    )


async def copy_raw(connection: psycopg.AsyncConnection, table: str, *, users: int, watched: int, held: int) -> None:
    """Do the same in the plain table, where each user had so many rows."""
    first = f'select text, vector, row_number() over (order by id) as k from {table} where "user" = 0'
    await connection.execute(
        f"insert into {table} select 10000000000 + u * 1000000 + k, u, text, vector"
        f" from ({first}) r, generate_series(%s::bigint, %s::bigint) u where k > %s",
        (watched, users - 1, held),
    )


def _of(column: str) -> str:
    return f"(q.no << {SHIFT}) | (t.{column} & {N_MASK})"
