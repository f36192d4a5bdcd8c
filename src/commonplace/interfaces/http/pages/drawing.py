"""Subjects and values as a wheel: subjects near the middle, values around them in the order of what they are about.

A force layout would have to be computed for seconds, or by a script; on a wheel some hundred labels never overlap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.domain.values import Fact

LABEL = 18.0
"""Room that a label takes on the rim."""
SMALLEST = 140.0
MARGIN = 200.0
"""Room for the labels outside the rim."""
MOST = 300
"""Facts that are drawn."""


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    x: float
    y: float
    turn: float
    """Degrees by which its label is turned."""
    left: bool
    """Whether its label ends at the node, instead of beginning there."""


@dataclass(frozen=True, slots=True)
class Edge:
    fact: Fact
    start: Node
    stop: Node


@dataclass(frozen=True, slots=True)
class Wheel:
    radius: float
    subjects: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int

    @property
    def half(self) -> float:
        return self.radius + MARGIN


def wheel(facts: Sequence[Fact]) -> Wheel:
    """Return the drawing of the facts that have a value, the first ones if there are too many."""
    drawn = sorted((fact for fact in facts if fact.value), key=lambda fact: (fact.subject, fact.attribute, fact.value))
    left_out, drawn = max(len(drawn) - MOST, 0), drawn[:MOST]
    subjects = list(dict.fromkeys(fact.subject for fact in drawn))
    values = list(dict.fromkeys(fact.value for fact in drawn if fact.value not in subjects))
    radius = max(SMALLEST, LABEL * len(values) / math.tau)
    inner = 0.0 if len(subjects) == 1 else radius * 0.45
    places = _around(subjects, inner) | _around(values, radius)
    edges = tuple(Edge(fact, places[fact.subject], places[fact.value]) for fact in drawn)
    return Wheel(radius, tuple(places[name] for name in subjects), edges, left_out)


def _around(names: Sequence[str], radius: float) -> dict[str, Node]:
    return {name: _node(name, math.tau * n / len(names), radius) for n, name in enumerate(names)}


def _node(name: str, angle: float, radius: float) -> Node:
    left = math.cos(angle) < -1e-9
    turn = math.degrees(angle) + (180 if left else 0)
    return Node(name, radius * math.cos(angle), radius * math.sin(angle), turn, left)
