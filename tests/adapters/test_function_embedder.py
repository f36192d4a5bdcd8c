"""A plain function as an embedder: where it runs, and what it may return."""

import asyncio
import threading

import numpy as np
import pytest

from commonplace.adapters.function import MORE, FunctionEmbedder
from commonplace.domain.errors import EmbedderUnavailable


def letters(texts: list[str]) -> list[list[float]]:
    """Count letters: quick, and never a row of zeros."""
    return [[1.0, *(float(text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz")] for text in texts]


async def test_a_quick_function_is_called_at_once_and_a_slow_one_away_from_the_event_loop() -> None:
    threads: list[threading.Thread] = []
    now = takes = 0.0

    def embed(texts: list[str]) -> list[list[float]]:
        nonlocal now
        now += takes
        threads.append(threading.current_thread())
        return letters(texts)

    embedder = await FunctionEmbedder.of(embed, clock=lambda: now)
    await embedder.embed(["tea"])
    await embedder.embed(["tea"])
    assert threads[-1] is threading.main_thread()
    takes = 0.05
    await embedder.embed(["tea"])
    takes = 0.0
    for _ in range(MORE):
        await embedder.embed(["tea"])
        assert threads[-1] is not threading.main_thread()
    await embedder.embed(["tea"])
    assert threads[-1] is threading.main_thread(), "one slow call among many quick ones is not held against it for good"


async def test_many_texts_never_run_on_the_event_loop() -> None:
    threads: list[threading.Thread] = []

    def embed(texts: list[str]) -> list[list[float]]:
        threads.append(threading.current_thread())
        return letters(texts)

    embedder = await FunctionEmbedder.of(embed)
    await embedder.embed(["tea"])
    await embedder.embed(["tea"] * 100)
    assert threads[-1] is not threading.main_thread()


async def test_what_it_does_is_its_identity() -> None:
    one, same, other = [
        await FunctionEmbedder.of(each) for each in (letters, lambda t: letters(t), lambda t: -np.array(letters(t)))
    ]
    assert one.identity == same.identity != other.identity
    assert (await asyncio.gather(one.embed(["tea"]), one.embed(["tea"])))[0].shape == (1, 27)


async def test_rows_get_unit_length_however_large_or_small_their_numbers_are() -> None:
    embedder = await FunctionEmbedder.of(
        lambda texts: [[3e30, 4e30] if text == "large" else [3e-30, 4e-30] for text in texts]
    )
    assert np.allclose(await embedder.embed(["large", "small"]), [[0.6, 0.8], [0.6, 0.8]])


@pytest.mark.parametrize("row", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
async def test_a_row_that_has_no_direction_is_refused(row: list[float]) -> None:
    embedder = await FunctionEmbedder.of(lambda texts: [row if text == "odd" else [1.0, 0.0] for text in texts])
    with pytest.raises(EmbedderUnavailable, match="a row of zeros, or one that is not finite"):
        await embedder.embed(["odd", "even"])
