"""Which lines go into a budget of tokens: the best one first, then those that are worth most for their tokens.

A line's cost alone is at or above its cost among others for the usual tokenizers; `fitted` counts the whole in the end.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as counting

Count = Callable[[str], int]
"""How many tokens a text costs."""

ALONE = 12
"""Tokens added to a line's cost before it is compared, or a short line would win by being short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    key: str
    group: str
    """Lines of a group stand under one heading, which is paid for by the first of them."""
    text: str
    value: float
    brings: tuple["Line", ...] = ()
    """Lines that make sense beside this one only."""


def choose(lines: Sequence[Line], *, budget: int, count: Count, headings: Mapping[str, str]) -> list[Line]:
    """Return the lines that fit, in the order in which they were taken. The first is tried before all others."""
    chosen: dict[str, Line] = {}
    paid: set[str] = set()
    number = counting()
    heap: list[tuple[float, int, int, Line]] = []

    def offer(line: Line, *, first: bool = False) -> None:
        cost = count(line.text)
        worth = -1e9 if first else -line.value / (cost + ALONE)
        heapq.heappush(heap, (worth, next(number), cost, line))

    for place, line in enumerate(lines):
        offer(line, first=not place)
    while heap:
        _, _, cost, line = heapq.heappop(heap)
        cost += 0 if line.group in paid else count(headings[line.group])
        if line.key in chosen or cost > budget:
            continue
        chosen[line.key], budget = line, budget - cost
        paid.add(line.group)
        for near in line.brings:
            offer(near)
    return list(chosen.values())


def fitted(
    chosen: Sequence[Line], *, render: Callable[[Sequence[Line]], str], budget: int, count: Count
) -> tuple[Sequence[Line], str, int]:
    """Return the lines whose text as a whole fits, that text and its tokens. What was taken last goes first."""
    for kept in (chosen[:stop] for stop in range(len(chosen), 0, -1)):
        text = render(kept)
        tokens = count(text)
        if tokens <= budget:
            return kept, text, tokens
    return (), "", 0
