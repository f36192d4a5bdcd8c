"""Who answers the dense arm: a choice by size, made after the exact filters."""

from typing import Literal

Path = Literal["memory", "ledger", "index"]
"""`memory`: the matrix in RAM, exactly. `ledger`: vectors read for this one search, exactly. `index`: nearest
neighbours from the vector index."""


def choose(*, candidates: int, in_memory: bool, index_ready: bool, exact_up_to: int) -> Path:
    """Prefer the index only where exact search would be slower, and exact search where there is no index to ask."""
    if index_ready and candidates > exact_up_to:
        return "index"
    return "memory" if in_memory else "ledger"


def holds_vectors(*, rows: int, index_ready: bool, exact_up_to: int) -> bool:
    """Whether a partition's matrix belongs in RAM: not where the index answers for most of its searches."""
    return not index_ready or rows <= exact_up_to
