"""Keeps equal vectors apart, for an index that searches by a graph: copies of one vector cut others out of it."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from commonplace.ports.ledger import Vector

NUDGE = 0.003
"""How far a row is moved; a score moves by about 0.0001. In Chroma, where copies were a third of 9,000 rows, recall@10
was 0.71 without this and 0.98 with it. In Milvus 73 of 500 rows were lost among 1,500 copies of one, and now none."""


def apart(numbers: Sequence[int], rows: Vector) -> Vector:
    """Move each row a little, in a direction that goes with its number: the same one each time."""
    directions = _directions(rows.shape[1])
    return np.asarray(rows + NUDGE * directions[np.array(numbers) % len(directions)], np.float32)


@cache
def _directions(dimensions: int) -> Vector:
    directions = np.random.default_rng(0).standard_normal((1_021, dimensions))
    return np.asarray(directions / np.linalg.norm(directions, axis=1, keepdims=True), np.float32)
