"""From a question to hits: what is found, in which order, and with which numbers."""

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from commonplace.domain.times import to_micros
from commonplace.recall import search as searching
from commonplace.recall.beside import BESIDE, beside
from commonplace.recall.calibrate import Evidence, answerable, relevance
from commonplace.recall.corpus import Corpus, Filters
from commonplace.recall.dense import Dense
from commonplace.recall.rank import date_window
from commonplace.recall.search import Asked, Hit, search
from commonplace.recall.when import Window
from tests.recall.rows import DAY_ONE, NOW, a_corpus, a_fact, a_feed, a_message, everything, moment, passages_of

ALL = Filters(now=NOW)


def found(corpus: Corpus, text: str, filters: Filters = ALL) -> list[str]:
    return [hit.id for hit in hits(corpus, text, filters=filters)]


def hits(corpus: Corpus, text: str, *, limit: int = 10, filters: Filters = ALL) -> list[Hit]:
    return search(corpus, Asked(text=text), mask=corpus.mask(filters), now=NOW, limit=limit)


def test_the_best_comes_first_and_the_limit_holds() -> None:
    corpus = a_corpus(
        a_message(1, "I drink tea", session="a"),
        a_message(2, "I drink green tea from Uji", session="b"),
        a_message(3, "The boat is blue", session="c"),
    )
    assert found(corpus, "green tea") == ["m2", "m1"]
    assert [hit.id for hit in hits(corpus, "green tea", limit=1)] == ["m2"]


def test_an_empty_memory_has_no_answer() -> None:
    assert found(Corpus(dimensions=4), "tea") == []


def test_a_question_of_stop_words_finds_nothing_by_words() -> None:
    assert found(a_corpus(a_message(1, "tea")), "what is it?") == []


def test_a_long_message_is_one_hit_by_its_best_passage() -> None:
    long = "The river was calm that day. " * 30 + "Then the violin was stolen. " + "We walked on. " * 40
    corpus = a_corpus(*passages_of(1, long), a_message(90, "my violin", session="b"))
    result = hits(corpus, "stolen violin")
    assert [hit.id for hit in result].count("m1") == 1
    assert next(hit for hit in result if hit.id == "m1").n > 1


def test_who_is_asked_about_comes_before_who_is_not() -> None:
    corpus = a_corpus(
        a_message(1, "I have bought a boat", name="Ben", session="a"),
        a_message(2, "I have bought a boat", name="Ana", session="a", minutes=200),
    )
    assert found(corpus, "Which boat has Ana bought?")[0] == "m2"


def test_a_statement_comes_before_a_question() -> None:
    corpus = a_corpus(
        a_message(1, "Who plays the violin?", session="a"), a_message(2, "Olga has a violin", session="b")
    )
    assert found(corpus, "violin")[0] == "m2"


def test_the_same_question_asked_before_is_behind_every_answer_to_it() -> None:
    corpus = a_corpus(
        a_message(1, "I use Shram and Magnet as productivity tools", session="a"),
        a_message(2, "What productivity tools do I use?", session="b"),
        a_message(3, "Which productivity tools do I use?", session="c"),
    )
    assert found(corpus, "What productivity tools do I use?")[0] == "m1"
    assert hits(corpus, "What productivity tools do I use?")[1].parts["echo"] < 0


def test_the_same_question_asked_before_is_found_where_nothing_answers_it() -> None:
    corpus = a_corpus(a_message(1, "The boat is blue", session="a"), a_message(2, "What do owls eat?", session="b"))
    assert found(corpus, "What do owls eat?")[0] == "m2"


def test_a_question_that_tells_something_is_no_echo() -> None:
    corpus = a_corpus(
        a_message(1, "Did you know that our old dog Rex loves apples?", session="a"),
        a_message(2, "We had a dog show in town", session="b"),
    )
    assert "m1" in found(corpus, "What does the dog love?")
    assert all("echo" not in hit.parts for hit in hits(corpus, "What does the dog love?"))


def test_a_when_question_prefers_a_time() -> None:
    corpus = a_corpus(
        a_message(1, "The exhibition was wonderful", session="a"),
        a_message(2, "The exhibition was last Saturday", session="b"),
    )
    assert found(corpus, "When was the exhibition?")[0] == "m2"


def test_the_time_of_the_question_is_preferred() -> None:
    day = 24 * 60
    corpus = a_corpus(
        a_message(1, "We went sailing", session="a", minutes=0),
        a_message(2, "We went sailing", session="b", minutes=100 * day),
        a_message(3, "We went sailing", session="c", minutes=200 * day),
    )
    assert found(corpus, "Where did we sail in June 2024?")[0] == "m2"


def test_the_users_words_come_before_the_assistants_unless_those_are_asked_for() -> None:
    corpus = a_corpus(
        a_message(1, "For breakfast porridge is what I have", session="a"),
        a_message(2, "For breakfast porridge is what is healthy", session="a", role="assistant", minutes=300),
    )
    assert found(corpus, "porridge for breakfast")[0] == "m1"
    assert found(corpus, "Which porridge did you recommend for breakfast?")[0] == "m2"


def test_a_standing_wish_takes_part_when_help_is_wanted() -> None:
    corpus = a_corpus(
        a_message(1, "Always show code with tests", session="a"),
        a_message(2, "The login page is slow", session="b"),
    )
    assert found(corpus, "How do I build a login?") == ["m2", "m1"]
    assert found(corpus, "What did I say about the login?") == ["m2"]


def test_a_learned_preference_is_a_standing_wish() -> None:
    corpus = a_corpus(a_fact(1, "User wants short answers", kind="preference"), a_message(2, "The login page is slow"))
    assert "f1" in found(corpus, "How do I build a login?")


def test_a_question_for_a_list_gets_every_fact_of_its_kind() -> None:
    books = ["Dune", "Emma", "Ulysses", "Walden", "Beloved", "Middlemarch", "Kim", "Momo"]
    corpus = a_corpus(
        *(a_fact(n, f"User has read the book {book}") for n, book in enumerate(books, 1)),
        a_fact(9, "User lives in Kyiv"),
    )
    assert set(found(corpus, "Which books have I read?")) == {f"f{n}" for n in range(1, 9)}


def test_facts_and_messages_are_found_together() -> None:
    corpus = a_corpus(a_message(1, "I use Magnet for my tasks"), a_fact(2, "User uses Magnet"))
    assert set(found(corpus, "Magnet")) == {"m1", "f2"}
    assert found(corpus, "Magnet", Filters(now=NOW, kinds=frozenset({"fact"}))) == ["f2"]


def test_a_fact_is_found_while_it_holds_and_is_believed() -> None:
    start, stop = to_micros(moment(10)), to_micros(moment(20))
    corpus = a_corpus(a_fact(1, "User uses Magnet", valid_from=start, valid_to=stop, retracted_at=NOW - 10))
    inside, known = to_micros(moment(15)), to_micros(moment(30))
    assert found(corpus, "Magnet", Filters(now=NOW, valid_at=inside, as_of=known)) == ["f1"]
    assert found(corpus, "Magnet", Filters(now=NOW, valid_at=stop, as_of=known)) == []
    assert found(corpus, "Magnet", Filters(now=NOW, valid_at=start - 1, as_of=known)) == []
    assert found(corpus, "Magnet", Filters(now=NOW, valid_at=inside)) == []
    assert found(corpus, "Magnet", Filters(now=NOW, valid_at=inside, as_of=to_micros(DAY_ONE) - 1)) == []


def test_nobody_sees_what_was_said_after_the_moment_of_knowledge() -> None:
    corpus = a_corpus(a_message(1, "tea", minutes=0), a_message(2, "tea", minutes=60))
    assert found(corpus, "tea", Filters(now=NOW, as_of=to_micros(moment(30)))) == ["m1"]


def test_sessions_and_times_are_exact_filters() -> None:
    corpus = a_corpus(a_message(1, "tea", session="a", minutes=0), a_message(2, "tea", session="b", minutes=60))
    assert found(corpus, "tea", Filters(now=NOW, sessions=frozenset({"b"}))) == ["m2"]
    assert found(corpus, "tea", Filters(now=NOW, sessions=frozenset({"nowhere"}))) == []
    assert found(corpus, "tea", Filters(now=NOW, during=(None, to_micros(moment(60))))) == ["m1"]
    assert found(corpus, "tea", Filters(now=NOW, during=(to_micros(moment(60)), None))) == ["m2"]
    assert found(corpus, "tea", Filters(now=NOW, where=lambda metadata: metadata is not None)) == []


def test_vectors_find_what_shares_no_word() -> None:
    corpus = a_corpus(
        a_message(1, "Our beagle is called Biscuit", session="a", vector=[1, 0, 0, 0]),
        a_message(2, "The boat is blue", session="b", vector=[0, 1, 0, 0]),
    )
    query = np.array([1, 0, 0, 0], np.float32)
    asked = Asked(text="Do I have a pet?", vector=query)
    assert search(corpus, asked, mask=everything(corpus), now=NOW, limit=1)[0].id == "m1"


def test_two_threads_find_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(7).normal(size=(40, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    corpus = a_corpus(*(a_message(n, f"note {n} on tea", vector=vectors[n].tolist()) for n in range(1, 40)))
    asked = Asked(text="tea", vector=vectors[0])
    alone = search(corpus, asked, mask=everything(corpus), now=NOW, limit=20)
    ran_on = []
    score = Dense.score

    def watched(dense: Dense, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        ran_on.append(threading.current_thread().name)
        return score(dense, vector)

    monkeypatch.setattr(searching, "SIDE_BY_SIDE", 1)
    monkeypatch.setattr(Dense, "score", watched)
    assert search(corpus, asked, mask=everything(corpus), now=NOW, limit=20) == alone
    assert ran_on == [BESIDE]


def test_what_fails_beside_is_raised_where_its_result_is_waited_for() -> None:
    with pytest.raises(ZeroDivisionError):
        beside(lambda: 1 // 0)()
    assert beside(lambda: 1)() == 1


def test_an_index_outside_may_answer_for_the_vectors() -> None:
    corpus = Corpus(dimensions=4, vectors=False)
    corpus.apply(a_feed(a_message(1, "one", session="a"), a_message(2, "two", session="b")))
    asked = Asked(text="something else", hits={2: 0.9, 77: 0.95})
    (best, *_) = search(corpus, asked, mask=everything(corpus), now=NOW, limit=2)
    assert best.id == "m2"
    rank, score = best.arms["dense"]
    assert rank == 1
    assert score == pytest.approx(0.9)


def test_every_number_that_made_the_order_is_told() -> None:
    corpus = a_corpus(a_message(1, "green tea", session="a"), a_message(2, "tea", session="b"))
    for hit in hits(corpus, "green tea"):
        assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-4)
        assert hit.arms["lexical"][0] in {1, 2}


def test_relevance_keeps_the_order_and_stays_within_bounds() -> None:
    scores = np.array([3.0, 9.0, -40.0], np.float32)
    likely = relevance(scores, best=0.8)
    assert likely[1] == pytest.approx(0.8)
    assert 0 <= likely[2] < likely[0] < likely[1]


def test_more_evidence_is_more_relevance() -> None:
    weak = Evidence(coverage=0.1, terms=3, cosine=0.2, reach=0.4, around=0.4, rows=500)
    strong = Evidence(coverage=0.6, terms=3, cosine=0.6, reach=0.9, around=0.4, rows=500)
    assert answerable(weak) < 0.1 < 0.9 < answerable(strong)
    assert answerable(Evidence(coverage=0.1, terms=3, rows=500)) < answerable(Evidence(coverage=0.5, terms=3, rows=500))


def test_the_date_window_fades_after_its_end() -> None:
    day = 86_400_000_000
    at = np.array([-1, 0, 10, 10 + 14 * day, 10 + 28 * day, 10 + 42 * day])
    assert date_window(at, Window(0, 10)).tolist() == pytest.approx([0, 1, 1, 1, 0.5, 0.25])
