"""What the planner may remember of the tables: no vectors and no numbers of rows, which would quote what was forgotten.

Tables of an older version let it, and keep what it has noted until it is dropped here.
"""

from typing import Any

from psycopg import AsyncConnection, sql

_OPEN = """
    select * from (
        select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attstattarget, exists (
            select from pg_stats s
            where (s.schemaname, s.tablename, s.attname) = (current_schema(), c.relname, a.attname)
                and coalesce(s.most_common_vals::text, s.histogram_bounds::text) is not null
        ) as noted
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')
            and c.relname ~ '^commonplace_index_(rows|[0-9]+)$' and a.attname in ('n', 'embedding')
    ) columns
    where attstattarget is distinct from 0 or noted
"""
"""The columns of this role's own tables that are, or were, open to statistics."""


async def leave_none(connection: AsyncConnection[tuple[Any, ...]]) -> None:
    """Let no statistics be kept, and drop those that are there."""
    found = await (await connection.execute(_OPEN)).fetchall()
    for table, column, kind, _, noted in found:
        change = sql.SQL("alter table {} alter {}").format(sql.Identifier(table), sql.Identifier(column))
        await connection.execute(change + sql.SQL(" set statistics 0"))
        if noted:  # a column that is given the type it has loses them, and neither table nor index is written anew
            await connection.execute(change + sql.SQL(" type ") + sql.SQL(kind))
