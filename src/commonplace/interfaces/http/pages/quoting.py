"""A text cut where something in it is to be marked: the exact words that a fact came from."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    marked: bool


def pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """Cut a text at these spans. Where they overlap or reach beyond the text, what is left of them is marked."""
    cut, place = list[Piece](), 0
    for start, stop in sorted(spans):
        start, stop = max(start, place), min(stop, len(text))
        if start >= stop:
            continue
        if start > place:
            cut.append(Piece(text[place:start], marked=False))
        cut.append(Piece(text[start:stop], marked=True))
        place = stop
    if place < len(text):
        cut.append(Piece(text[place:], marked=False))
    return cut
