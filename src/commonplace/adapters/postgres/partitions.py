"""One user's part of the database: its number, its version, and the row numbers that are taken.

Who writes to a partition locks its row first, so that writers of one user come one after the other.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from commonplace.adapters.postgres.columns import Connection, optional_text_of, text_column, text_of
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Versions

SHIFT = 32
N_MASK = (1 << SHIFT) - 1
NOTHING = Versions(0, 0, 0, 0)
GENERATION = "coalesce((select value::bigint from meta where key = 'generation'), 0)"
_NOW = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
"""In microseconds, by the one clock that all processes have."""
HELD = f"coalesce((select value::bigint > {_NOW} from meta where key = 'held_until'), false)"
"""Whether rows may not be added now."""
COLUMNS = (
    f"no, version, fact_version, epoch, next_row, rows, full_text, {GENERATION},"
    f" (select value from meta where key = 'embedder'), own_model, {HELD}"
)
OWN = "vectors_own"
VECTORS = ("vectors", "vectors_odd", OWN)
"""The tables of vectors: of even generations, of odd ones, and of models that users have of their own."""
NUMBER = '(select no from partitions where tenant = %s and "user" = %s)'
"""The number of a partition, inside a statement that knows its owner: saves the round trip of asking for it first."""
_FIND = f'select {COLUMNS} from partitions where tenant = %s and "user" = %s'


class Partition(NamedTuple):
    no: int
    version: int
    fact_version: int
    epoch: int
    next_row: int
    rows: int
    full_text: int
    generation: int
    everybodys_model: str | None
    own_model: str | None
    held: bool
    """Whether rows may not be added now."""

    @property
    def own(self) -> str | None:
        """The model that this user has of their own."""
        return optional_text_of(self.own_model)

    @property
    def model(self) -> str | None:
        """Whose vectors are in use."""
        return self.own or self.everybodys_model

    @property
    def base(self) -> int:
        """Row n of this partition is `base | n`."""
        return self.no << SHIFT

    @property
    def last(self) -> int:
        return self.base | N_MASK

    def holds(self, n: int) -> bool:
        """Say whether n can be the number of a row; any other would be a row of somebody else."""
        return 0 < n <= N_MASK

    @property
    def versions(self) -> Versions:
        return Versions(self.no, self.version, self.fact_version, self.rows, self.generation, self.own)

    @property
    def vectors(self) -> str:
        """The table of the vectors in use. It stays so until the end of a transaction that has locked a partition."""
        return vectors_of(self.generation) if self.own_model is None else OWN

    @property
    def aside(self) -> str:
        return aside_of(self.generation)


def vectors_of(generation: int) -> str:
    return VECTORS[generation % 2]


def aside_of(generation: int) -> str:
    return VECTORS[(generation + 1) % 2]


def owner_columns(scope: Scope) -> tuple[str, str]:
    if scope.user == "":
        raise InvalidInput("user='': expected a name, or None for the anonymous user")
    return text_column(scope.tenant), "" if scope.user is None else text_column(scope.user)


def scope_of(tenant: str, user: str) -> Scope:
    return Scope(text_of(tenant), optional_text_of(user or None))


async def generation(connection: Connection) -> int:
    """Return how often the vectors of another model have taken the place of those in use."""
    row = await (await connection.execute(f"select {GENERATION}")).fetchone()
    return 0 if row is None else int(row[0])


async def hold(connection: Connection, seconds: float) -> None:
    """Let nobody add rows for so long."""
    await connection.execute(
        f"insert into meta values ('held_until', ({_NOW} + %s)::text)"
        " on conflict (key) do update set value = excluded.value",
        (round(seconds * 1_000_000),),
    )


async def nothing(connection: Connection) -> Versions:
    """Return where a scope stands that holds nothing."""
    return NOTHING._replace(generation=await generation(connection))


async def find(connection: Connection, scope: Scope) -> Partition | None:
    """Return the scope's partition, to read from it."""
    row = await (await connection.execute(_FIND, owner_columns(scope))).fetchone()
    return None if row is None else Partition(*row)


async def lock(connection: Connection, scope: Scope) -> Partition | None:
    """Return the scope's partition, to write to it: nobody else does until this transaction ends."""
    row = await (await connection.execute(f"{_FIND} for update", owner_columns(scope))).fetchone()
    return None if row is None else Partition(*row)


async def lock_knowing(
    connection: Connection, scope: Scope, messages: Sequence[str]
) -> tuple[Partition | None, Mapping[str, int]]:
    """Lock the scope's partition, and look which of these messages it has, in one round trip. Returns their rows.

    If it had to wait for another writer, what that one added may be missing from them.
    """
    found = await connection.execute(
        f"select {COLUMNS}, array(select id from messages m where m.partition = p.no and m.id = any(%s) order by row),"
        " array(select row from messages m where m.partition = p.no and m.id = any(%s) order by row)"
        ' from partitions p where tenant = %s and "user" = %s for update of p',
        (list(messages), list(messages), *owner_columns(scope)),
    )
    row = await found.fetchone()
    if row is None:
        return None, {}
    *columns, ids, rows = row
    return Partition(*columns), dict(zip(ids, rows, strict=True))


async def obtain(connection: Connection, scope: Scope) -> Partition:
    """Return the scope's partition, locked, made now if there is none."""
    found = await lock(connection, scope)
    if found is not None:
        return found
    await connection.execute(
        'insert into partitions (tenant, "user") values (%s, %s) on conflict do nothing', owner_columns(scope)
    )
    made = await lock(connection, scope)
    assert made is not None
    return made
