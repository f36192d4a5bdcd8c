"""Where bars stand, and what words are marked: no browser is needed for that."""

from datetime import UTC, datetime, timedelta

from commonplace.domain.values import Fact, FactId
from commonplace.interfaces.http.pages.quoting import pieces
from commonplace.interfaces.http.pages.timeline import CROWDED, Filter, axis_of, lane, lanes_of

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=100)
SEEN = Filter(as_of=NOW)


def a_fact(number: int, *, since: int, until: int | None = None, known: int = 0, retracted: int | None = None) -> Fact:
    return Fact(
        id=FactId(f"f{number}"),
        text=f"User lives in {number}",
        said_at=START + timedelta(days=since),
        valid_from=START + timedelta(days=since),
        valid_to=None if until is None else START + timedelta(days=until),
        recorded_at=START + timedelta(days=known),
        retracted_at=None if retracted is None else START + timedelta(days=retracted),
        attribute="home",
    )


def test_bars_that_follow_each_other_share_a_row_and_those_that_overlap_do_not() -> None:
    facts = [a_fact(1, since=0, until=40), a_fact(2, since=40), a_fact(3, since=20, until=60)]
    drawn = lane(("user", "home"), facts, axis_of(facts, NOW), SEEN)
    assert {bar.fact.id: bar.row for bar in drawn.bars} == {"f1": 0, "f2": 0, "f3": 1}
    assert drawn.rows == 2


def test_what_was_not_known_yet_is_not_shown_and_what_is_believed_no_more_is_old() -> None:
    facts = [a_fact(1, since=0, known=0, retracted=50), a_fact(2, since=0, known=50)]
    early = Filter(as_of=START + timedelta(days=10))
    assert [fact.id for fact in early.known(facts)] == ["f1"]
    assert not early.is_old(facts[0])
    assert [fact.id for fact in SEEN.known(facts)] == ["f1", "f2"]
    assert SEEN.is_old(facts[0])


def test_a_crowded_lane_is_drawn_as_counts_that_add_up() -> None:
    facts = [a_fact(number, since=number % 90) for number in range(CROWDED + 1)]
    drawn = lane(("user", "home"), facts, axis_of(facts, NOW), SEEN)
    assert drawn.bars == ()
    assert sum(one.count for one in drawn.bins) == CROWDED + 1


def test_no_bar_leaves_the_drawing_however_far_its_times_are() -> None:
    facts = [a_fact(1, since=-100_000), a_fact(2, since=0, until=200_000)]
    drawn = lane(("user", "home"), facts, axis_of(facts, NOW), SEEN)
    assert all(0 <= bar.start <= 1 and bar.start + bar.width <= 1.01 for bar in drawn.bars)


def test_lanes_begin_with_the_user() -> None:
    facts = [a_fact(1, since=0)]
    assert list(lanes_of(facts)) == [("user", "home")]


def test_marked_words_may_overlap_or_reach_beyond_the_text() -> None:
    cut = pieces("I use Magnet", [(2, 5), (4, 99), (50, 60)])
    assert [(one.text, one.marked) for one in cut] == [("I ", False), ("use", True), (" Magnet", True)]
    assert "".join(one.text for one in cut) == "I use Magnet"
    assert pieces("", [(0, 3)]) == []
