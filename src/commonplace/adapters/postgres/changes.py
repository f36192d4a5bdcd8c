"""What changed since a version, in one statement and without a transaction: what a recall reads after an add.

It is for a few changes to rows of the model that everybody has. What it does not answer, `feed` reads step by step.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from commonplace.adapters.postgres.columns import text_of
from commonplace.adapters.postgres.feed import (
    FACT,
    FACTS,
    MESSAGE,
    MESSAGES,
    SUMMARIES,
    SUMMARY,
    fact_row,
    message_row,
    placed,
    select,
    summary_row,
)
from commonplace.adapters.postgres.lanes import WHOSE
from commonplace.adapters.postgres.partitions import GENERATION, N_MASK, SHIFT
from commonplace.ports.ledger import Feed

FEW = 100
"""Rows of a kind that are read in this way."""
# In the order of the index that finds them: by row number, the server might look through all rows for so few.
_CHANGED = (
    f"{{table}}.changed > ((u.no << {SHIFT}) | %(since)s) and {{table}}.changed <= ((u.no << {SHIFT}) | {N_MASK})"
    f" order by {{table}}.changed limit {FEW + 1}"
)
_SESSIONS = """
    array(select t.session from fact_sources o join messages t on t.row = o.message
        where o.fact = f.first and o.role = 'said' and t.session is not null group by t.session order by min(o.no))
"""


@lru_cache(maxsize=8)
def statement(vectors: str | None) -> str:
    """Return the statement; vectors come from the table of that name, or are left out. It gives one row."""

    def several(columns: str, tables: str, table: str) -> str:
        template = f"array(select row({columns}) from {tables} where {{where}})"
        return select(template, table, _CHANGED.format(table=table), vectors)

    return f"""
        select coalesce(u.no, 0), coalesce(u.version, 0), coalesce(u.fact_version, 0), coalesce(u.rows, 0),
            {GENERATION}, u.own_model,
            {several(MESSAGE, MESSAGES, "p")},
            {several(f"{FACT}, {_SESSIONS}", FACTS, "f")},
            {several(SUMMARY, SUMMARIES, "s")},
            array(select r.row from removals r where {_CHANGED.format(table="r")}),
            {WHOSE}
        from (select) as always left join partitions u on u.tenant = %(tenant)s and u."user" = %(user)s
    """


def read(row: Sequence[Any], *, generation: int) -> Feed | None:
    """Return what the row tells; None if there is too much, or the vectors were looked for in another table."""
    *versions, messages, facts, summaries, removed = row
    found = placed(versions)
    if found.model is not None or found.generation != generation or max(map(len, row[-4:])) > FEW:
        return None
    known = [fact_row(columns, [text_of(session) for session in sessions]) for *columns, sessions in facts]
    return Feed(
        found,
        sorted(map(message_row, messages), key=lambda one: one.n),
        sorted([*known, *map(summary_row, summaries)], key=lambda one: one.n),
        sorted(number & N_MASK for number in removed),
    )
