import numpy as np
import pytest

from bench.calibration import TABLES, fitted
from commonplace.recall.calibrate import WITH_TOKENS, Evidence, answerable, signs_of


def test_a_fit_finds_the_log_odds_that_made_the_answers() -> None:
    draw = np.random.default_rng(1)
    signs = np.column_stack([draw.normal(size=4_000), np.ones(4_000)])
    known = (draw.random(4_000) < 1 / (1 + np.exp(-signs @ [2.0, -1.0]))).astype(float)
    assert fitted(signs, known) == pytest.approx([2.0, -1.0], abs=0.15)


def test_the_signs_are_in_the_order_of_the_numbers() -> None:
    evidence = Evidence(coverage=0.5, terms=4, cosine=0.4, reach=0.3, around=0.2, rows=20)
    numbers = [getattr(WITH_TOKENS, name) for name in ("coverage", "cosine", "reach", "around", "rows", "constant")]
    odds = float(np.dot(numbers, signs_of(evidence)))
    assert answerable(evidence) == pytest.approx(1 / (1 + np.exp(-odds)))


def test_every_table_that_ships_is_fitted() -> None:
    assert set(TABLES) == {"WITH_TOKENS", "WITH_VECTORS", "WITH_WORDS"}
