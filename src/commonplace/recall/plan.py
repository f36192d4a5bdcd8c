"""Who answers a search: choices by size. The dense arm's is made after the exact filters."""

from typing import Literal

Path = Literal["memory", "ledger", "index"]
"""`memory`: the matrix in RAM, exactly. `ledger`: vectors read for this one search, exactly. `index`: nearest
neighbours from the vector index."""
Source = Literal["full text", "slabs"]
"""What is searched of a partition beyond the memory budget. `full text`: candidates by words and by nearness. `slabs`:
every row, some at a time."""

ROW_BYTES = 3_000
"""RAM for a row beside its vector. Measured: 890 for messages of 15 words, 1,790 for passages of 60; its tokens, if the
embedder shows them, 1,200."""
BESIDE_INDEX = 50_000
"""Up to so many rows (75 MB) the matrix stays in RAM beside the index, and answers while that is behind."""
LEAST_ROWS = 1_000
"""So many rows may be in RAM at once however small the budget is."""


def choose(*, candidates: int, in_memory: bool, index_ready: bool, exact_up_to: int) -> Path:
    """Prefer the index only where exact search would be slower, and exact search where there is no index to ask."""
    if index_ready and candidates > exact_up_to:
        return "index"
    return "memory" if in_memory else "ledger"


def holds_vectors(*, rows: int, index_ready: bool, exact_up_to: int) -> bool:
    """Whether a partition's matrix belongs in RAM: not where it is large and the index answers for most searches."""
    return not index_ready or rows <= max(exact_up_to, BESIDE_INDEX)


def row_bytes(dimensions: int) -> int:
    """Estimate the RAM for a row; 0 dimensions for one without its vector."""
    return ROW_BYTES + 4 * dimensions


def rows_within(budget: int, *, bytes_each: int) -> int:
    """Return how many rows may be in RAM at once."""
    return max(LEAST_ROWS, budget // bytes_each)


def source(*, filtered: bool, full_text: bool) -> Source:
    """Choose what is searched for a query beyond the memory budget.

    Candidates are chosen before the filters are looked at. So with a filter every row is looked at, lest one that it
    lets through is no candidate.
    """
    return "full text" if full_text and not filtered else "slabs"
