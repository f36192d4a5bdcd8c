"""Whose vectors a ledger holds, and how those of another model are made beside them and take their place.

Every switch raises the generation. Whoever caches vectors, or asks a model, compares the generation that it knows with
the ledger's: that is how a switch is seen in every process that has the memory open.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar, runtime_checkable

from commonplace.domain.errors import Conflict
from commonplace.domain.scope import Scope
from commonplace.ports.feed import Feed, Vector, Versions

T = TypeVar("T")
AsideState = Literal["building", "kept", "clearing"]
"""Being made; of the model before, kept to go back to; being removed."""
PAUSE = 0.02
"""Seconds that who is held back waits before it tries again."""
CHANGING = "changing to "
"""Begins the record while every vector is made anew in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """An embedding model, as a ledger knows it."""

    identity: str
    name: str | None
    """How it is opened, e.g. `openai:text-embedding-3-small`; None: only who has it can give it."""
    dimensions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A second set of vectors, which nobody searches."""

    model: Model
    state: AsideState
    rows: int
    """How many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    generation: int
    current: str | None
    """The identity of the model whose vectors are searched; None while there are none."""
    aside: Aside | None
    known: Mapping[str, Model] = field(default_factory=dict)
    """Every model that took part in a switch, by identity."""

    def may_begin(self, model: Model, *, current: Model) -> None:
        """Raise Conflict unless vectors of `model` may be made aside while those of `current` are in use."""
        if self.current != current.identity:
            raise Conflict(f"the vectors in use are of {self.current!r} by now, not of {current.identity!r}")
        if model.identity == current.identity:
            raise Conflict(f"{model.identity!r} is in use already")
        if self.aside is not None and self.aside.model.identity != model.identity:
            raise Conflict(
                f"vectors of {self.aside.model.identity!r} are aside ({self.aside.state}): remove them first"
            )


class HeldBack(Exception):  # noqa: N818 - no error: whoever it meets waits, see `unheld`
    """Rows may not be added just now: see `Models.hold_writes`."""


async def unheld(write: Callable[[], Awaitable[T]]) -> T:
    """Write, and again as long as it is held back."""
    while True:
        try:
            return await write()
        except HeldBack:
            await asyncio.sleep(PAUSE)


def made_by(recorded: str | None, model: str | None) -> bool:
    """Say whether vectors of this model may be written where that one is recorded. None fits everything."""
    return recorded is None or model is None or recorded in (model, f"{CHANGING}{model}")


def same_model(recorded: str | None, model: str | None) -> bool:
    """Say whether vectors that are recorded as of one model are those of the other, too."""
    return recorded is not None and recorded in (model, f"{CHANGING}{model}")


@runtime_checkable
class Models(Protocol):
    @property
    def generation(self) -> int:
        """The generation as of the last call that read a version or wrote rows: a look at it costs nothing."""
        ...

    async def models(self) -> ModelRecord: ...

    async def everyone(self) -> Mapping[Scope, Versions]:
        """Return every user of every tenant that has index rows, and where they stand.

        Those with a model of their own are among them, and take no part in a switch.
        """
        ...

    async def begin_aside(self, model: Model, *, current: Model) -> None:
        """Make room for the vectors of another model; those of it that are there already stay.

        `current` says how the model in use is opened, for the way back. Raises Conflict if it is not in use, if
        `model` is, or if there are vectors of a third one aside.
        """
        ...

    async def lacking(self, scope: Scope, *, after: int, limit: int, aside: bool) -> Feed:
        """Return the next `limit` rows, numbered after `after`, that have no vector: in use, or aside. No vectors."""
        ...

    async def set_aside(
        self, scope: Scope, vectors: Mapping[int, Vector], *, model: str, tokens: Mapping[int, bytes] | None = None
    ) -> None:
        """Keep vectors aside, of rows that are still there. Raises Conflict if none of this model are to be kept."""
        ...

    async def aside(self, scope: Scope, numbers: Sequence[int]) -> Mapping[int, bytes]:
        """Return the vectors aside of these rows; those that have none are left out."""
        ...

    async def hold_writes(self, seconds: float) -> None:
        """Let whoever adds rows wait so long, in every process; 0 lets them go on. It ends by itself, after a kill too.

        Without it, a switch that gives way to every write might never come.
        """
        ...

    async def switch_vectors(self, *, to: str, seen: Mapping[Scope, int] | None = None) -> int:
        """Let the vectors aside, of the model `to`, and those in use change places, at once. Returns the generation.

        `seen` are the versions of everyone at which no vector was lacking: Overtaken if there was a write since.
        Without it, rows that are not aside are left without a vector. Raises Conflict if there are none of `to`.
        """
        ...

    async def discard_aside(self, *, limit: int) -> int:
        """Remove up to `limit` of the vectors aside. Returns how many are left; with the last the record goes, too."""
        ...
