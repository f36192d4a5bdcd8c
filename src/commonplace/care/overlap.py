"""How far two models agree: the share of a text's nearest that are its nearest by the other model, too."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from commonplace.ports.feed import Vector

TOP = 10


@dataclass(slots=True)
class Nearest:
    """The nearest of some rows by one model, found while all rows pass by. A row is not its own neighbour."""

    queries: Mapping[int, Vector]
    best: dict[int, list[tuple[float, int]]] = field(default_factory=dict)

    def see(self, rows: Mapping[int, bytes]) -> None:
        numbers = list(rows)
        matrix = np.frombuffer(b"".join(rows.values()), np.float32).reshape(len(rows), -1)
        for query, vector in self.queries.items():
            scores = (matrix @ vector).tolist()
            seen = [(score, n) for score, n in zip(scores, numbers, strict=True) if n != query]
            self.best[query] = sorted([*self.best.get(query, []), *seen], reverse=True)[:TOP]

    def of(self, query: int) -> frozenset[int]:
        return frozenset(n for _, n in self.best.get(query, ()))


def overlaps(one: Nearest, other: Nearest) -> list[float]:
    """Return the share for each row; none for a row that has no neighbours."""
    pairs = [(one.of(query), other.of(query)) for query in one.queries]
    return [len(ours & theirs) / len(ours) for ours, theirs in pairs if ours]


def agree(made: Vector, kept: Vector) -> bool:
    """Say whether two vectors of one text are the same model's."""
    return len(made) == len(kept) and float(made @ kept) > 0.98
