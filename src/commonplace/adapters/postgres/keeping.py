"""Messages kept in one statement, which commits by itself: what most calls write, in one round trip.

Its conditions are those under which nothing else has to be looked at: the user has rows already, no full text and no
model of their own, and the vectors are of the model in use. Where one does not hold, or a message is there already
(which the server finds by itself, at the end), it writes nothing, and `writing` does it step by step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from commonplace.adapters.postgres import jobs, messages, partitions, sessions
from commonplace.adapters.postgres.columns import vector_column
from commonplace.adapters.postgres.gathering import COLUMNS, MOST_VALUES
from commonplace.adapters.postgres.lanes import WHOSE
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId
from commonplace.ports.ledger import Change
from commonplace.ports.models import CHANGING

Row = Sequence[object]

_PARTITION = f"""
    update partitions set version = version + 1, next_row = next_row + {{rows}}, rows = rows + {{rows}}
    where tenant = %s and "user" = %s and {WHOSE} = tenant and full_text = 0 and own_model is null
        and coalesce((select value in (%s, %s) from meta where key = 'embedder'), true)
        and {partitions.GENERATION} = %s and not {partitions.HELD}
    returning no, epoch, version, no << {partitions.SHIFT} as base, next_row - {{rows}} as next_row
"""
_ROW = "p.base | (p.next_row + v.n)"
_FROM = "select {columns} from p, (values {rows}) as v ({names})"
_TYPES = {
    "messages": "n bigint, id text, session text, role text, name text, agent text, at bigint, recorded_at bigint,"
    " expires_at bigint, metadata text, text text",
    "passages": "n bigint, first bigint, start bigint, stop bigint, terms bytea",
    **dict.fromkeys(partitions.VECTORS, "n bigint, vector vector, tokens bytea"),
    "sessions": "id text, at bigint, until bigint",
    "jobs": "id text, tenant text, owner text, kind text, payload text, epoch bigint, attempts bigint, run_at bigint,"
    " due bigint, status text, error text",
}
"""What is sent for a row of each table; `n` counts the rows of the statement."""
_MADE_OF = {
    "messages": f"{_ROW}, p.no, id, session, role, name, agent, at, recorded_at, expires_at, metadata, text",
    "passages": f"{_ROW}, p.base | (p.next_row + v.first), p.base | p.version, start, stop, terms",
    **dict.fromkeys(partitions.VECTORS, f"{_ROW}, vector, tokens"),
    "sessions": "p.no, id, at, at, until",
    "jobs": "id, tenant, owner, kind, payload, p.epoch, attempts, run_at, due, status, error",
}
"""What a row is made of."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Messages, and the statement that keeps them. It gives a row if it did."""

    messages: Mapping[MessageId, Message]
    statement: str
    values: Row

    def ours(self, found: Mapping[MessageId, Message]) -> frozenset[MessageId]:
        """Return the ids of messages that are there just as they were to be kept, down to the microsecond."""
        return frozenset(id_ for id_, message in found.items() if self.messages.get(id_) == message)


def kept(scope: Scope, changes: Sequence[Change], *, generation: int) -> Kept | None:
    """Return how to do it in one statement, as long as this is the generation; None for what takes more than that."""
    if len(changes) != 1 or not _only_keeps(changes[0]):
        return None
    (change,) = changes
    known = {new.message.id: new.message for new in change.messages}
    models = {entry.model for new in change.messages for entry in new.entries if entry.vector is not None} - {None}
    if len(known) < len(change.messages) or len(models) > 1:
        return None
    shape: list[tuple[str, int]] = []
    values: list[object] = [*partitions.owner_columns(scope), *_fitting(*models), generation]
    for table, rows in _rows(change, partitions.vectors_of(generation)):
        if rows:
            shape.append((table, len(rows)))
            values.extend(chain.from_iterable(rows))
    if shape[-1][0] == "sessions" and change.session_ttl is not None:
        values.append(sessions.life(change.session_ttl))
    return Kept(known, _statement(tuple(shape)), values) if len(values) <= MOST_VALUES else None


def _only_keeps(change: Change) -> bool:
    more = (change.closed, change.versions, change.reinforced, change.sources, change.history)
    return (
        bool(change.messages)
        and not any((*more, change.summaries, change.finished_jobs))
        and change.epoch is None
        and change.facts_seen is None
        and all(new.entries and not new.message.attachments for new in change.messages)
    )


def _fitting(model: str | None = None) -> tuple[str | None, str | None]:
    """Return what the ledger may say of the model in use, where these vectors are to go with the others."""
    return (None, None) if model is None else (model, CHANGING + model)


def _rows(change: Change, vectors: str) -> Sequence[tuple[str, Sequence[Row]]]:
    """Return what is sent, by table. The sessions come last, for their statement has a value of its own."""
    said: list[Row] = []
    passages: list[Row] = []
    dense: list[Row] = []
    for new in change.messages:
        first = len(passages)
        said.append((first, *messages.columns_of(new.message)))
        for n, entry in enumerate(new.entries, start=first):
            passages.append((n, first, entry.start, entry.stop, entry.terms))
            if entry.vector is not None:
                dense.append((n, vector_column(entry.vector), entry.tokens))
    ttl = change.session_ttl
    alive = [] if ttl is None else sessions.latest([new.message for new in change.messages])
    return (
        ("messages", said),
        ("passages", passages),
        (vectors, dense),
        ("jobs", [jobs.new_columns(job) for job in change.jobs]),
        ("sessions", [sessions.moments(session, now=now, ttl=ttl or 0) for session, now in alive]),
    )


@lru_cache(maxsize=256)
def _statement(tables: tuple[tuple[str, int], ...]) -> str:
    counts = dict(tables)
    steps = [f"p as ({_PARTITION.format(rows=counts['passages'])})"]
    steps += [f"{table}_kept as ({_inserting(table, rows)})" for table, rows in tables]
    return f"with {', '.join(steps)} select 1 from p"


def _inserting(table: str, rows: int) -> str:
    columns = [column.strip().rsplit(" ", 1) for column in _TYPES[table].split(",")]
    marks = f"({', '.join(f'%s::{type_}' for _, type_ in columns)})"
    sent = _FROM.format(
        columns=", ".join(f"v.{part}" if part in dict(columns) else part for part in _MADE_OF[table].split(", ")),
        rows=", ".join([marks] * rows),
        names=", ".join(name for name, _ in columns),
    )
    match table:
        case "sessions":
            return sessions.KEEP_ALIVE.format(rows=sent)
        case "jobs":
            return f"insert into jobs ({COLUMNS['jobs']}) {sent} on conflict do nothing"
        case _:
            return f"insert into {table} ({COLUMNS[table]}) {sent}"
