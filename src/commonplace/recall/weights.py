"""Every number that was chosen, in one place, with what it was chosen on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The defaults are what ships. A benchmark may switch a part off; nobody else should need to."""

    k1: float = 0.9
    b: float = 0.4
    caption: float = 0.5
    before: tuple[float, ...] = (0.4, 0.3, 0.15, 0.1)
    """How much of the words one, two, three, four before it a message takes over …"""
    before_asking: float = 0.8
    """… and of the one before it if that asks something: answers do not repeat their question."""
    after: tuple[float, ...] = (0.3, 0.2, 0.1)
    neighbour_words: float = 60
    name_cap: float = 3.0
    """In a large store a name is a rare word, and without a cap everything that person said comes first."""

    dense: float = 0.3
    dense_alone: float = 0.5
    """The dense arm's weight where there is no late interaction."""
    dense_before: tuple[float, ...] = (0.5, 0.3)
    dense_after: tuple[float, ...] = (0.3, 0.2)
    late: float = 1.0
    priors: float = 0.8
    question: float = 1.2
    speaker: float = 1.2
    thread: float = 1.0
    """A session in which a person takes part whom the question names."""
    long: float = 3.0
    session_best: float = 0.1
    date: float = 1.0

    lexical_candidates: int = 100
    dense_candidates: int = 100
    plain_candidates: int = 50
