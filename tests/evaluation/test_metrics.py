import pytest

from commonplace.evaluation.metrics import Figure, Outcome, auroc, by_category, figures


def outcome(gold: str, ranked: str, *, deeper: str | None = None, category: str = "all") -> Outcome:
    """Ids are letters; each result is one message."""
    return Outcome(
        gold=frozenset(gold),
        ranked=tuple((letter,) for letter in ranked),
        deeper=tuple((letter,) for letter in deeper or ranked),
        category=category,
        sessions={letter: letter.lower() for letter in "abcdefghijklmnopqrstuvwxyzABC"},
        within={500: frozenset(ranked[:1])},
    )


def values(*outcomes: Outcome) -> dict[str, float]:
    return {name: figure.value for name, figure in figures(outcomes).items()}


def test_evidence_counts_by_the_share_that_was_found() -> None:
    measured = values(outcome("ab", "axxxxb"), outcome("c", "xxc"))
    assert measured["R@1"] == 25
    assert measured["R@5"] == 75
    assert measured["R@10"] == measured["all@10"] == 100
    assert measured["hit@1"] == 50
    assert measured["MRR"] == pytest.approx(66.7)
    assert measured["within 500"] == 25


def test_only_the_deeper_search_counts_beyond_ten() -> None:
    measured = values(outcome("a", "xxxxxxxxxx", deeper="xxxxxxxxxxxa"))
    assert (measured["R@10"], measured["R@20"]) == (0, 100)


def test_sessions_count_once_each() -> None:
    measured = values(outcome("c", "Aabc"))
    assert (measured["sessions@1"], measured["sessions@5"]) == (0, 100)


def test_a_fact_stands_for_the_messages_it_was_learned_from() -> None:
    fact = Outcome(gold=frozenset("b"), ranked=(("a", "b"),), deeper=(("a", "b"),), category="all", sessions={"b": "s"})
    assert values(fact)["hit@1"] == 100


def test_nothing_found_counts_as_nothing() -> None:
    assert set(values(outcome("a", "")).values()) == {0}


def test_no_question_has_no_figures() -> None:
    assert figures([]) == {}
    assert auroc([], [0.5]) is None


def test_intervals_hold_the_value_and_shrink_with_more_questions() -> None:
    few = figures([outcome("a", "a"), outcome("a", "x")] * 5)["hit@1"]
    many = figures([outcome("a", "a"), outcome("a", "x")] * 200)["hit@1"]
    assert few.low < many.low < 50 < many.high < few.high


def test_categories_are_counted_apart() -> None:
    counted = by_category([outcome("a", "a", category="home"), outcome("a", "x", category="work")])
    assert {name: rates["hit@1"] for name, rates in counted.items()} == {"home": 100, "work": 0}


def test_auroc_is_how_often_an_answer_is_above_none_with_ties_half() -> None:
    assert auroc([0.9, 0.8], [0.1]) == Figure(1, 1, 1)
    assert auroc([0.5], [0.5]) == Figure(0.5, 0.5, 0.5)
    measured = auroc([0.9, 0.1, 0.5], [0.4, 0.2])
    assert measured is not None
    assert measured.value == pytest.approx(0.667)
