"""Rows that wait to be written, and then go to the server in one statement: a round trip for all tables together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from commonplace.adapters.postgres.columns import Connection
from commonplace.adapters.postgres.jobs import NEW_COLUMNS

COLUMNS = {
    "messages": "row, partition, id, session, role, name, agent, at, recorded_at, expires_at, metadata, text",
    "attachments": "message, place, id, type, size, name, caption, text",
    "passages": "row, first, changed, start, stop, terms",
    "facts": "row, partition, first, changed, id, version, kind, confidence, importance, said_at, valid_from, valid_to,"
    " recorded_at, retracted_at, expires_at, replaced_by, subject, attribute, value, extractor, metadata, terms, text",
    "vectors": "row, vector, tokens",
    "vectors_odd": "row, vector, tokens",
    "vectors_own": "row, vector, tokens",
    "fact_sources": "fact, message, start, stop, role",
    "fact_history": "fact, version, change, at, reason, message",
    "summaries": "row, partition, changed, id, session, since, until, made_at, expires_at, author, terms, text",
    "jobs": NEW_COLUMNS,
}
MAY_BE_THERE = {"fact_sources", "jobs"}
"""Tables of which a row that is there already is left alone."""
MOST_VALUES = 20_000
"""A statement can have 65,535 values; so many are written before more are gathered."""


@dataclass(slots=True)
class Gathered:
    """What is to be written. Until `write`, the server knows nothing of it."""

    connection: Connection
    _rows: dict[str, list[Sequence[object]]] = field(default_factory=dict)
    _also: list[tuple[str, Sequence[object]]] = field(default_factory=list)
    _values: int = 0

    async def insert(self, table: str, row: Sequence[object]) -> None:
        self._rows.setdefault(table, []).append(row)
        self._values += len(row)
        if self._values > MOST_VALUES:
            await self.write()

    def also(self, statement: str, values: Sequence[object]) -> None:
        """Run this with it. It sees nothing of what is written with it, so it must not be about the same rows."""
        self._also.append((statement, values))

    async def write(self) -> None:
        statements = [*map(_inserting, self._rows, self._rows.values()), *self._also]
        if not statements:
            return
        *before, (last, last_values) = statements
        named = ", ".join(f"s{number} as ({statement})" for number, (statement, _) in enumerate(before))
        values = [value for _, some in before for value in some]
        self._rows, self._also, self._values = {}, [], 0
        await self.connection.execute(f"with {named} {last}" if named else last, [*values, *last_values])


def _inserting(table: str, rows: Sequence[Sequence[object]]) -> tuple[str, Sequence[object]]:
    marks = f"({', '.join(['%s'] * len(rows[0]))})"
    twice = " on conflict do nothing" if table in MAY_BE_THERE else ""
    statement = f"insert into {table} ({COLUMNS[table]}) values {', '.join([marks] * len(rows))}{twice}"
    return statement, [value for row in rows for value in row]
