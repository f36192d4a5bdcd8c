"""Messages may arrive in any order: the time line is the same, and nothing on it overlaps."""

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.claims import Claim
from commonplace.domain.values import Fact
from tests.learning.simulator import Simulator, a_claim, day, timeline

Saying = tuple[int, Claim]
PLACES = ["Berlin", "Paris", "Rome", "Oslo"]


def told(sayings: list[Saying]) -> Simulator:
    memory = Simulator()
    for at, claim in sayings:
        memory.tell(day(at), claim)
    return memory


def overlapping(facts: list[Fact]) -> list[tuple[Fact, Fact]]:
    def apart(left: Fact, right: Fact) -> bool:
        return (left.valid_to is not None and right.valid_from is not None and left.valid_to <= right.valid_from) or (
            right.valid_to is not None and left.valid_from is not None and right.valid_to <= left.valid_from
        )

    return [(left, right) for left, right in combinations(facts, 2) if not apart(left, right)]


moments = st.lists(st.integers(1, 60), min_size=2, max_size=7, unique=True)


@st.composite
def moves(draw: st.DrawFn) -> list[Saying]:
    return [(at, a_claim(draw(st.sampled_from(PLACES)))) for at in sorted(draw(moments))]


@st.composite
def comings_and_goings(draw: st.DrawFn) -> list[Saying]:
    """Messages that start and stop using tools, or that live in places and leave them."""
    attribute = draw(st.sampled_from(["uses", "home"]))
    said = st.builds(a_claim, st.sampled_from(PLACES[:3]), st.just(attribute), st.sampled_from(["holds", "ended"]))
    return [(at, draw(said)) for at in sorted(draw(moments))]


@st.composite
def anything(draw: st.DrawFn) -> list[Saying]:
    """Homes with and without a start and an end that was told, and endings."""
    sayings = []
    for at in draw(moments):
        value, standing = draw(st.sampled_from(PLACES)), draw(st.sampled_from(["holds", "holds", "ended", "corrects"]))
        start = draw(st.none() | st.integers(0, 80))
        stop = draw(st.none() | st.integers(0, 80))
        if start is not None and stop is not None and stop <= start:
            stop = None
        told = {"valid_from": None if start is None else day(start), "valid_to": None if stop is None else day(stop)}
        sayings.append((at, a_claim(value, standing=standing, **told)))  # type: ignore[arg-type]
    return sayings


@given(comings_and_goings(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(sayings: list[Saying], random: Random) -> None:
    shuffled = random.sample(sayings, len(sayings))
    in_order, in_disorder = told(sayings).believed, told(shuffled).believed
    for attribute in ("home", "not home", "uses", "not uses"):
        assert sorted(timeline(in_disorder, attribute), key=str) == sorted(timeline(in_order, attribute), key=str)


@given(moves(), st.randoms(use_true_random=False))
def test_a_time_line_has_no_gap_and_ends_with_what_was_said_last(sayings: list[Saying], random: Random) -> None:
    shuffled = random.sample(sayings, len(sayings))
    line = timeline(told(shuffled).believed, "home")
    assert line[0][1] is None
    assert line[-1][0] == sayings[-1][1].value
    assert line[-1][2] is None
    assert all(earlier[2] == later[1] for earlier, later in zip(line, line[1:], strict=False))


@given(anything())
def test_two_values_of_a_single_valued_attribute_never_overlap(sayings: list[Saying]) -> None:
    memory = told(sayings)
    assert overlapping([fact for fact in memory.believed if fact.attribute == "home"]) == []
