"""What is said about the vectors of a memory: whose they are, and how a change of the model went."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsAside:
    """Vectors of another model than the one in use."""

    model: str
    name: str | None
    """How it is opened; None: only who has it can give it."""
    state: Literal["building", "kept", "clearing"]
    """Being made; of the model before, kept to go back to; being removed."""
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Whose vectors are searched, and whether there are others beside them."""

    model: str
    name: str | None
    dimensions: int
    generation: int
    """How often another model's vectors have taken the place of those in use."""
    aside: VectorsAside | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    before: str
    after: str
    """The model in use before and after."""
    rows: int
    embedded: int
    """How many vectors were made by this call: fewer than rows where an earlier one was cut short."""
    sampled: int
    overlap: float | None
    """The share of the ten nearest that the two models agree on; None where it was not measured."""
    switched: bool
    left_alone: int = 0
    """Users who have a model of their own: their vectors stay as they are."""
