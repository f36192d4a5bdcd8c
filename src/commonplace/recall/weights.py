"""Every number that was chosen, in one place, with what it was chosen on.

Chosen on five conversations of two people (1,018 questions) and five chats with an assistant (90 questions), by leaving
one conversation out at a time; `commonplace bench recall --without PART` shows what each is worth.
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
    standing_candidates: int = 20
    late_candidates: int = 64
    """Only the best so far are compared token by token: with 48 of about 190 nothing is lost."""

    # What each part of the fused score weighs, under the part's name. The unit is that of log-odds: of two messages the
    # one with a point more is e times as likely to be the answer. Each may be 0.6 to 1.5 times as much for less than a
    # point of anything; together they were fitted by likelihood and rounded.
    lexical: float = 7.0
    """Times the share of the question's words that a message and its neighbours have."""
    context: float = 2.7
    """Times the cosine of the vectors, with those of the neighbours."""
    late: float = 12.5
    """Times the share of the question's tokens that a message and its neighbours have."""
    lexical_alone: float = 16.0
    context_alone: float = 5.0
    """The same where there are no tokens."""
    aftermath: float = 4.5
    """Against a message whose forerunner, which was no question, has the tokens: it comments on the answer."""
    speaker: float = 0.9
    """For what the person says whom the question names."""
    date: float = 2.0
    asks: float = 0.6
    """Against a message that asks."""
    echoing: float = 0.75
    """A question with so much of its own words in common with the one that is asked now is the same question …"""
    echo: float = 12.0
    """… and no answer to it: among the evidence for 1,118 questions there are two such, questions asked back."""
    length: float = 0.4
    specific: float = 0.2
    """For a time, a number, a name: once each."""
    fits: float = 1.7
    """For what the question asks for: a time for when, and so on."""
    opens: float = 1.0
    """For the first message of a session: people begin with their news."""
    thread: float = 1.0
    """For a session in which a person takes part whom the question names."""
    long: float = 1.0
    """Against long messages, by the logarithm of their length over 90 words."""
    role: float = 1.0
    """For the user, against the assistant; the other way round if the question asks what the assistant said."""
    standing: float = 1.5
    """For how somebody wants to be answered, if the question asks for help."""
    fact: float = 0.2
