"""Retention: what is due, and who is held."""

from collections.abc import Mapping, Sequence

from commonplace.adapters.postgres import partitions
from commonplace.adapters.postgres.columns import Connection, optional_text_of, text_column, text_of
from commonplace.domain.errors import OnHold
from commonplace.domain.retention import FACT_KINDS, Due, Hold
from commonplace.domain.scope import Scope
from commonplace.domain.times import FOREVER, from_micros, to_micros
from commonplace.domain.values import FactId

_LAST_SAID = """
    greatest(f.said_at,
        (select max(m.at) from fact_sources s join messages m on m.row = s.message
         where s.fact = f.first and s.role = 'said'),
        (select max(h.at) from fact_history h where h.fact = f.first and h.message is null
         and h.change in ('remembered', 'reinforced', 'revised', 'restored')))
"""
_DUE_FACTS = f"""
    select f.id from facts f where f.partition = %(partition)s
    and f.version = (select max(g.version) from facts g where g.first = f.first)
    and (f.expires_at <= %(at)s
         or {_LAST_SAID} < case f.kind {" ".join(f"when '{kind}' then %({kind})s::bigint" for kind in FACT_KINDS)} end)
    order by f.first
"""


def cutoffs(due: Due, *kinds: str) -> Mapping[str, int]:
    """Return the moments as parameters; what is kept for ever has one before all time."""
    return {kind: to_micros(due.said_before[kind]) if kind in due.said_before else -FOREVER for kind in kinds}


async def due_facts(connection: Connection, scope: Scope, due: Due) -> Sequence[FactId]:
    partition = await partitions.find(connection, scope)
    values = {"partition": partition.no if partition else 0, "at": to_micros(due.at), **cutoffs(due, *FACT_KINDS)}
    found = await connection.execute(_DUE_FACTS, values)
    return [FactId(text_of(id_)) for (id_,) in await found.fetchall()]


async def hold(connection: Connection, scope: Scope, hold: Hold) -> Hold:
    await partitions.lock(connection, scope)  # a forget that is under way ends first
    await connection.execute(
        'insert into holds (tenant, "user", since, reason) values (%s, %s, %s, %s)'
        ' on conflict (tenant, "user") do nothing',
        (*partitions.owner_columns(scope), to_micros(hold.since), text_column(hold.reason)),
    )
    (kept,) = await hold_of(connection, scope)
    return kept


async def release(connection: Connection, scope: Scope) -> bool:
    removed = await connection.execute(
        'delete from holds where tenant = %s and "user" = %s', partitions.owner_columns(scope)
    )
    return removed.rowcount > 0


async def holds(connection: Connection, tenant: str) -> Sequence[Hold]:
    return await _holds(connection, "tenant = %s", (text_column(tenant),))


async def hold_of(connection: Connection, scope: Scope) -> Sequence[Hold]:
    return await _holds(connection, 'tenant = %s and "user" = %s', partitions.owner_columns(scope))


async def refuse_held(connection: Connection, scope: Scope) -> None:
    for found in await hold_of(connection, scope):
        raise OnHold(found.user, since=found.since)


async def _holds(connection: Connection, condition: str, values: Sequence[str]) -> Sequence[Hold]:
    found = await connection.execute(f'select "user", since, reason from holds where {condition} order by no', values)
    return [
        Hold(user=optional_text_of(user or None), since=from_micros(since), reason=text_of(reason))
        for user, since, reason in await found.fetchall()
    ]
