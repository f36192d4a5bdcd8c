"""Retention: what is due, and who is held."""

from collections.abc import Mapping, Sequence

from commonplace.adapters.sqlite import partitions
from commonplace.adapters.sqlite.columns import Connection, Text, optional_text_of, text_column, text_of
from commonplace.domain.errors import OnHold
from commonplace.domain.retention import FACT_KINDS, Due, Hold
from commonplace.domain.scope import Scope
from commonplace.domain.times import FOREVER, from_micros, to_micros
from commonplace.domain.values import FactId

_LAST_SAID = """
    max(f.said_at,
        coalesce((select max(m.at) from fact_sources s join messages m on m.row = s.message
                  where s.fact = f.first and s.role = 'said'), f.said_at),
        coalesce((select max(h.at) from fact_history h where h.fact = f.first and h.message is null
                  and h.change in ('remembered', 'reinforced', 'revised', 'restored')), f.said_at))
"""
_DUE_FACTS = f"""
    select f.id from facts f where f.partition = :partition
    and f.version = (select max(g.version) from facts g where g.first = f.first)
    and (f.expires_at <= :at
         or {_LAST_SAID} < case f.kind {" ".join(f"when '{kind}' then :{kind}" for kind in FACT_KINDS)} end)
    order by f.first
"""


def cutoffs(due: Due, *kinds: str) -> Mapping[str, int]:
    """Return the moments as parameters; what is kept for ever has one before all time."""
    return {kind: to_micros(due.said_before[kind]) if kind in due.said_before else -FOREVER for kind in kinds}


def due_facts(connection: Connection, scope: Scope, due: Due) -> Sequence[FactId]:
    partition = partitions.find(connection, scope)
    values = {"partition": partition.no if partition else 0, "at": to_micros(due.at), **cutoffs(due, *FACT_KINDS)}
    return [FactId(text_of(id_)) for (id_,) in connection.execute(_DUE_FACTS, values)]


def hold(connection: Connection, scope: Scope, hold: Hold) -> Hold:
    connection.execute(
        "insert into holds (tenant, user, since, reason) values (?, ?, ?, ?) on conflict do nothing",
        (*partitions.owner_columns(scope), to_micros(hold.since), text_column(hold.reason)),
    )
    (kept,) = hold_of(connection, scope)
    return kept


def release(connection: Connection, scope: Scope) -> bool:
    removed = connection.execute(
        "delete from holds where tenant = ? and user = ?", partitions.owner_columns(scope)
    ).rowcount
    return removed > 0


def holds(connection: Connection, tenant: str) -> Sequence[Hold]:
    return _holds(connection, "tenant = ?", (text_column(tenant),))


def hold_of(connection: Connection, scope: Scope) -> Sequence[Hold]:
    return _holds(connection, "tenant = ? and user = ?", partitions.owner_columns(scope))


def refuse_held(connection: Connection, scope: Scope) -> None:
    for found in hold_of(connection, scope):
        raise OnHold(found.user, since=found.since)


def _holds(connection: Connection, condition: str, values: Sequence[Text]) -> Sequence[Hold]:
    rows = connection.execute(f"select user, since, reason from holds where {condition} order by no", values)
    return [
        Hold(user=optional_text_of(user or None), since=from_micros(since), reason=text_of(reason))
        for user, since, reason in rows
    ]
