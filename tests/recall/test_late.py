"""Words that mean nearly the same find each other, by the vectors of their tokens."""

import numpy as np
import pytest

from commonplace.recall.late import QueryTokens, Tokens, interact, packed, projection, short_tokens
from commonplace.recall.terms import analyse, term_of
from commonplace.recall.weights import Weights
from tests.recall.rows import a_corpus, a_message

WIDE = 384


def wide(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.random.default_rng(seed).standard_normal(WIDE).astype(np.float32)


MEANING = {"dog": wide(1), "tea": wide(2), "boat": wide(3)}
MEANING["beagle"] = MEANING["dog"] + 0.5 * wide(4)


def tokens(*words: str) -> QueryTokens:
    vectors = np.array([MEANING.get(word, np.ones(WIDE, np.float32)) for word in words], np.float32)
    return short_tokens(words, vectors.reshape(-1, WIDE), language="en")


def test_the_matrix_has_directions_at_right_angles() -> None:
    matrix = projection()
    assert matrix.shape == (WIDE, 64)
    assert np.allclose(matrix.T @ matrix, np.eye(64), atol=0.01)


def test_stop_words_and_marks_are_left_out() -> None:
    assert tokens("the", "dog", "", "?", "is").terms == (term_of("dog", "en"),)


def test_the_nearest_token_of_each_row_is_found() -> None:
    held = Tokens()
    held.append([packed(tokens("beagle", "tea")), None, packed(tokens("boat"))])
    found = held.nearest(np.array([0, 1, 2]), tokens("dog").vectors)[:, 0]
    assert found[0] > 0.7
    assert found[1] == 0
    assert found[2] < 0.4


def test_a_row_may_be_asked_for_in_any_order() -> None:
    held = Tokens()
    held.append([packed(tokens("dog")), packed(tokens("tea", "boat"))])
    held.append([packed(tokens("boat"))])
    query = tokens("tea", "dog").vectors
    forwards = held.nearest(np.array([0, 1, 2]), query)
    assert np.array_equal(held.nearest(np.array([2, 0, 1]), query), forwards[[2, 0, 1]])


def test_a_question_is_covered_by_a_message_and_its_neighbours() -> None:
    texts = ["beagle", "boat", "tea"]
    corpus = a_corpus(*(a_message(n, text, tokens=packed(tokens(text))) for n, text in enumerate(texts, 1)))
    found = interact(
        corpus.tokens,
        np.arange(3),
        tokens("dog"),
        threads=corpus.threads,
        asking=np.zeros(4, np.bool_),
        term_weights=dict.fromkeys(analyse("dog"), 1.0),
        weights=Weights(),
    )
    assert found.mixed[0] > found.mixed[1] > found.mixed[2] > 0
    assert found.before.tolist() == pytest.approx([0, found.before[1], 0], abs=1e-6)
    assert found.before[1] > 0.3
    assert found.reach[0] == found.reach[1] == found.reach[2] > 0.7
