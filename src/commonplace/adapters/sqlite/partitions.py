"""One user's part of the database: its number, its version, and the row numbers that are taken."""

import time
from typing import NamedTuple

from commonplace.adapters.sqlite.columns import Connection, Text, optional_text_of, text_column, text_of
from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Versions
from commonplace.ports.models import HeldBack

SHIFT = 32
N_MASK = (1 << SHIFT) - 1
NOTHING = Versions(0, 0, 0, 0)
GENERATION = "coalesce((select value from meta where key = 'generation'), 0)"
COLUMNS = f"no, version, fact_version, epoch, next_row, rows, full_text, {GENERATION}, own_model"


class Partition(NamedTuple):
    no: int
    version: int
    fact_version: int
    epoch: int
    next_row: int
    rows: int
    full_text: int
    generation: int
    own_model: Text | None

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
        model = optional_text_of(self.own_model)
        return Versions(self.no, self.version, self.fact_version, self.rows, self.generation, model)


class Common(NamedTuple):
    """What holds for every user."""

    generation: int
    """How often the vectors of another model have taken the place of those in use."""
    held_until: int | None
    """No rows may be added before this moment."""
    embedder: str | None
    """Whose vectors everybody has who has no model of their own."""

    def refuse_held(self) -> None:
        """Raise HeldBack if rows may not be added now."""
        if self.held_until is not None and self.held_until > time.time_ns() // 1000:
            raise HeldBack

    def model_of(self, partition: Partition) -> str | None:
        """Return whose vectors a user has."""
        return optional_text_of(partition.own_model) or self.embedder


def common(connection: Connection) -> Common:
    generation, held_until, embedder = connection.execute(
        f"select {GENERATION}, (select value from meta where key = 'held_until'),"
        " (select value from meta where key = 'embedder')"
    ).fetchone()
    return Common(int(generation), None if held_until is None else int(held_until), optional_text_of(embedder))


def owner_columns(scope: Scope) -> tuple[Text, Text]:
    if scope.user == "":
        raise InvalidInput("user='': expected a name, or None for the anonymous user")
    return text_column(scope.tenant), "" if scope.user is None else text_column(scope.user)


def scope_of(tenant: Text, user: Text) -> Scope:
    return Scope(text_of(tenant), optional_text_of(user or None))


def hold(connection: Connection, seconds: float) -> None:
    """Let nobody add rows for so long."""
    until = time.time_ns() // 1000 + round(seconds * 1_000_000)
    connection.execute("insert or replace into meta values ('held_until', ?)", (until,))


def nothing(connection: Connection) -> Versions:
    """Return where a scope stands that holds nothing."""
    return NOTHING._replace(generation=common(connection).generation)


def find(connection: Connection, scope: Scope) -> Partition | None:
    row = connection.execute(
        f"select {COLUMNS} from partitions where tenant = ? and user = ?", owner_columns(scope)
    ).fetchone()
    return None if row is None else Partition(*row)


def obtain(connection: Connection, scope: Scope) -> Partition:
    """Return the scope's partition, made now if there is none."""
    found = find(connection, scope)
    if found is not None:
        return found
    connection.execute("insert into partitions (tenant, user) values (?, ?)", owner_columns(scope))
    made = find(connection, scope)
    assert made is not None
    return made
