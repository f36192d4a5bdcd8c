"""The words of neighbours count, whatever way the messages came in."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.ports.ledger import MessageRow
from commonplace.recall.corpus import Corpus
from commonplace.recall.terms import analyse
from tests.recall.rows import DIMENSIONS, a_corpus, a_fact, a_feed, a_message

WORDS = ("tea", "boat", "violin", "snow")


def scores(corpus: Corpus, text: str) -> dict[int, float]:
    found = corpus.lexical.score(list(analyse(text)), lambda _, idf: idf).scores
    return {n: round(float(found[slot]), 4) for n, slot in corpus.slot_of.items()}


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    corpus = a_corpus(
        a_message(1, "I like boats"),
        a_message(2, "What kind of programs do you write?"),
        a_message(3, "Basic games and stories"),
        a_message(9, "Snow again", session="other"),
    )
    found = scores(corpus, "programs")
    assert found[2] > found[3] > found[1] > 0
    assert found[9] == 0


def test_an_answer_takes_more_of_a_question_than_of_a_statement() -> None:
    asked = a_corpus(a_message(1, "Which violin?"), a_message(2, "The old one"))
    said = a_corpus(a_message(1, "A violin."), a_message(2, "The old one"))
    assert scores(asked, "violin")[2] > scores(said, "violin")[2]


def test_a_speaker_and_a_day_are_no_words_of_the_neighbours() -> None:
    corpus = a_corpus(a_message(1, "tea", name="Ana"), a_message(2, "boat", name="Ben"))
    assert scores(corpus, "Ana")[2] == 0


def test_a_fact_has_its_own_words_only() -> None:
    corpus = a_corpus(a_message(1, "snow"), a_fact(2, "tea"), a_message(3, "boat"))
    found = scores(corpus, "snow")
    assert found[2] == 0
    assert found[3] > 0


def test_messages_without_a_session_are_neighbours_within_an_hour() -> None:
    corpus = a_corpus(
        a_message(1, "snow", session=None, minutes=0),
        a_message(2, "tea", session=None, minutes=30),
        a_message(3, "boat", session=None, minutes=300),
    )
    found = scores(corpus, "snow")
    assert found[2] > 0
    assert found[3] == 0


def test_a_rare_word_says_more() -> None:
    corpus = a_corpus(*(a_message(n, "tea" if n < 9 else "boat", session=f"s{n}") for n in range(1, 10)))
    assert scores(corpus, "boat")[9] > scores(corpus, "tea")[1]


@st.composite
def histories(draw: st.DrawFn) -> list[list[MessageRow | int]]:
    """Steps of rows that come, come again, and go: late, in bulk, one by one."""
    text = st.lists(st.sampled_from((*WORDS, "?")), min_size=1, max_size=4).map(" ".join)
    row = st.builds(
        a_message,
        st.integers(1, 12),
        text,
        session=st.sampled_from(["a", "b", None]),
        name=st.sampled_from(["Ana", "Ben", None]),
        minutes=st.integers(0, 90),
    )
    step = st.lists(
        row | st.integers(1, 12), min_size=1, max_size=6, unique_by=lambda r: r if isinstance(r, int) else r.n
    )
    return draw(st.lists(step, min_size=1, max_size=6))


def replayed(steps: Sequence[Sequence[MessageRow | int]]) -> tuple[Corpus, list[MessageRow]]:
    corpus = Corpus(dimensions=DIMENSIONS)
    left: dict[int, MessageRow] = {}
    for version, step in enumerate(steps, 1):
        rows = [row for row in step if isinstance(row, MessageRow)]
        removed = [n for n in step if isinstance(n, int)]
        corpus.apply(a_feed(*rows, removed=removed, version=version))
        left = {n: row for n, row in left.items() if n not in removed} | {row.n: row for row in rows}
    return corpus, list(left.values())


@settings(max_examples=60)
@given(histories())
def test_a_corpus_that_grew_is_one_that_was_built_at_once(steps: list[list[MessageRow | int]]) -> None:
    grown, left = replayed(steps)
    built = a_corpus(*left)
    for word in (*WORDS, "Ana", "2024", "tea boat snow"):
        assert scores(grown, word) == scores(built, word)
    assert grown.names == {term: codes for term, codes in grown.names.items() if codes}
    assert set(grown.names) == set(built.names)


@settings(max_examples=60)
@given(histories())
def test_applying_the_last_feed_again_changes_nothing(steps: list[list[MessageRow | int]]) -> None:
    once, _ = replayed(steps)
    twice, _ = replayed([*steps, steps[-1]])
    assert scores(once, "tea boat") == scores(twice, "tea boat")


def test_many_single_messages_are_as_good_as_one_bulk() -> None:
    rows = [a_message(n, f"{WORDS[n % 4]} {WORDS[n % 3]} number{n}", session=f"s{n % 7}") for n in range(1, 300)]
    grown = Corpus(dimensions=DIMENSIONS)
    for version, row in enumerate(rows, 1):
        grown.apply(a_feed(row, version=version))
    built = a_corpus(*rows)
    for text in ("tea", "number17 violin", "snow boat"):
        assert scores(grown, text) == scores(built, text)
