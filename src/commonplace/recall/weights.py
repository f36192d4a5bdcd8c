"""Every number that was chosen, in one place, with what it was chosen on.

Chosen on five conversations of two people (1,018 questions) and five chats with an assistant (90 questions), by leaving
one conversation out at a time; `python -m bench.recall_eval --without NAME` shows what each is worth.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The defaults are what ships. A benchmark may switch a part off; nobody else should need to."""

    # The lexical arm. All of these are flat: half or twice as much changes the result by less than half a point.
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

    # The dense arm.
    dense_before: tuple[float, ...] = (0.5, 0.3)
    dense_after: tuple[float, ...] = (0.3, 0.2)

    # Late interaction: a cosine below `near` is no match; `saturation` is k1 for these soft counts.
    near: float = 0.4
    saturation: float = 0.3

    lexical_candidates: int = 100
    dense_candidates: int = 100
    plain_candidates: int = 50

    # What each part of the fused score weighs, under the part's name.
    lexical: float = 1.0
    context: float = 0.8
    """The dense arm with its neighbours."""
    dense: float = 0.6
    """The dense arm without them, where an assistant takes part: its replies drown a user's short message."""
    late: float = 2.1
    echo: float = 0.25
    """Against a message that says only what the question says."""
    aftermath: float = 0.6
    """Against a message whose forerunner has said it already: it comments on the answer."""
    speaker: float = 1.6
    date: float = 1.4
    question: float = 1.0
    """Against a short message that ends by asking."""
    asks: float = 0.8
    length: float = 0.75
    specific: float = 0.5
    """For a time, a number, a name: once each."""
    fits: float = 1.7
    """For what the question asks for: a time for when, and so on."""
    opens: float = 1.3
    """For the first message of a session: people begin with their news."""
    answers: float = 0.5
    """For a message after one that asks."""
    thread: float = 1.0
    """For a session in which a person takes part whom the question names."""
    long: float = 3.0
    """Against long messages, by the logarithm of their length over 90 words."""
    role: float = 1.0
    """For the user, against the assistant."""
    fact: float = 1.0
    session: float = 0.1
    """For the company of the best message of its session."""
