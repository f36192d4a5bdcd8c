"""What a ledger says about itself: how much there is, whose vectors it holds, and whether it is whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from commonplace.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCounts:
    users: int
    messages: int
    facts: int
    fact_versions: int
    blocks: int
    sessions: int
    rows: int
    rows_without_vector: int
    jobs: Mapping[str, int]
    bytes_on_disk: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """What was said on a day (UTC), and what was learned from it."""

    day: date
    messages: int = 0
    facts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it should be."""

    check: str
    severity: Literal["note", "warning", "error"]
    message: str
    repairable: bool = False
    repaired: bool = False


class Upkeep(Protocol):
    async def holds_vectors(self) -> bool:
        """Say whether there are vectors, other than of users who have a model of their own."""
        ...

    async def embedder_identity(self) -> str | None:
        """Return the identity of the model whose vectors this ledger holds; None while it holds none."""
        ...

    async def set_embedder_identity(self, identity: str, *, replacing: str | None = None) -> None:
        """Record it. Raises Conflict if another than `replacing` is recorded."""
        ...

    async def own_models(self, tenant: str) -> Mapping[Scope, str]:
        """Return the users of a tenant whose vectors are of a model of their own, by its identity."""
        ...

    async def set_own_model(self, scope: Scope, model: str | None, *, clear: bool = False) -> None:
        """Record that a user's vectors are of this model; None: of the one that is recorded for the whole ledger.

        Vectors of another model are removed with `clear`; without it there may be none of them, or it raises Conflict.
        """
        ...

    async def counts(self, tenant: str) -> LedgerCounts:
        """Count what a tenant holds."""
        ...

    async def counts_of(self, scope: Scope) -> LedgerCounts:
        """Count what one user holds."""
        ...

    async def growth(self, tenant: str) -> Sequence[Grown]:
        """Count the messages and facts that a tenant holds by the day they were said, the first day first."""
        ...

    async def check(self, *, now: datetime | None = None, repair: bool = False) -> Sequence[Finding]:
        """Look for damage: integrity, foreign keys, rows without entries. Empty when all is well.

        With `now`, also for states of sessions that are over. A repair cleans those, and lets go of a full text with
        gaps; what is the truth itself it never touches.
        """
        ...

    @property
    def name(self) -> str:
        """A stable random name of this ledger, made when it was created; indexes are named after it."""
        ...
