"""What every Embedder must do. An adapter passes by subclassing and giving an `embedder`."""

import asyncio

import numpy as np
import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.ports.embedder import Embedder, Vectors

SAME = 0.9999
"""Cosine of a text with itself, alone and in any company."""

TOOLS = "I use two productivity tools every day"
ABOUT_TOOLS = "which productivity tools do I use every day"
WEATHER = "Clouds gathered slowly above our harbour"

COMPANY = ["no", WEATHER, "A long one. " * 60, ABOUT_TOOLS, "", "x y z", TOOLS.upper(), "1 2 3 4 5 6 7 8 9 10"]

HOSTILE = {
    "empty": "",
    "blanks": " \t\n\u00a0\u200b",
    "NUL": "\0",
    "NUL within": "peanuts\0are\0bad",
    "lone high surrogate": "\ud800",
    "lone low surrogate within": "tea \udc00 and cake",
    "surrogate pair in two halves": "\ud83d\ude00",
    "not a character": "\ufffe\uffff\ufffd",
    "combining marks only": "\u0301" * 50,
    "right to left override": "\u202etxet",
    "emoji": "👩‍👩‍👧‍👦 🇪🇺",
    "Japanese": "私は東京に住んでいます",
    "one very long word": "a" * 100_000,
    "a megabyte of words": "peanut butter " * 75_000,
    "a megabyte of blanks": " " * 1_000_000,
    "SQL": "'; DROP TABLE facts; --",
    "special pieces": "[CLS] [SEP] [PAD] [MASK] [UNK]",
}


def cosine(one: Vectors, other: Vectors) -> float:
    return float(one @ other)


def assert_unit_rows(vectors: Vectors, *, rows: int, dimensions: int) -> None:
    assert vectors.shape == (rows, dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


class EmbedderContract:
    async def test_returns_one_row_of_unit_length_per_text(self, embedder: Embedder) -> None:
        assert_unit_rows(await embedder.embed(COMPANY), rows=len(COMPANY), dimensions=embedder.dimensions)

    async def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert_unit_rows(await embedder.embed([]), rows=0, dimensions=embedder.dimensions)

    async def test_rows_come_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forwards = await embedder.embed(COMPANY)
        backwards = await embedder.embed(COMPANY[::-1])
        for one, other in zip(forwards, backwards[::-1], strict=True):
            assert cosine(one, other) > SAME

    async def test_a_text_gives_the_same_row_alone_and_in_any_batch(self, embedder: Embedder) -> None:
        together = await embedder.embed([*COMPANY, TOOLS, *COMPANY * 3])
        (alone,) = await embedder.embed([TOOLS])
        assert cosine(alone, together[len(COMPANY)]) > SAME

    async def test_equal_texts_give_equal_rows(self, embedder: Embedder) -> None:
        first, _, second = await embedder.embed([TOOLS, WEATHER, TOOLS])
        assert cosine(first, second) > SAME

    async def test_texts_about_the_same_are_nearer_than_others(self, embedder: Embedder) -> None:
        tools, about, weather = await embedder.embed([TOOLS, ABOUT_TOOLS, WEATHER])
        assert cosine(tools, about) > cosine(tools, weather) + 0.2

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
    async def test_any_string_has_a_row(self, embedder: Embedder, text: str) -> None:
        assert_unit_rows(await embedder.embed([text]), rows=1, dimensions=embedder.dimensions)

    async def test_hostile_company_changes_nothing(self, embedder: Embedder) -> None:
        (alone,) = await embedder.embed([TOOLS])
        *_, together = await embedder.embed([*HOSTILE.values(), TOOLS])
        assert cosine(alone, together) > SAME

    async def test_one_string_is_refused_where_a_list_is_expected(self, embedder: Embedder) -> None:
        with pytest.raises(InvalidInput, match="list of strings"):
            await embedder.embed("each letter would be a text")

    async def test_what_is_not_a_string_is_refused(self, embedder: Embedder) -> None:
        with pytest.raises(InvalidInput, match="list of strings"):
            await embedder.embed([TOOLS, None])  # type: ignore[list-item]

    async def test_callers_at_the_same_time_each_get_their_own_rows(self, embedder: Embedder) -> None:
        calls = [[f"{text} {n}" for text in COMPANY[: n % 5]] for n in range(20)]
        answers = await asyncio.gather(*(embedder.embed(texts) for texts in calls))
        for texts, rows in zip(calls, answers, strict=True):
            assert_unit_rows(rows, rows=len(texts), dimensions=embedder.dimensions)
            for text, row in zip(texts, rows, strict=True):
                assert cosine(row, (await embedder.embed([text]))[0]) > SAME

    async def test_a_caller_who_goes_away_harms_nobody(self, embedder: Embedder) -> None:
        (expected,) = await embedder.embed([TOOLS])
        first, goes, stays = [asyncio.ensure_future(embedder.embed([*COMPANY, TOOLS])) for _ in range(3)]
        await asyncio.sleep(0)
        goes.cancel()
        for answer in (await first, await stays, await embedder.embed([TOOLS])):
            assert cosine(answer[-1], expected) > SAME

    async def test_the_identity_names_the_model_and_stays(self, embedder: Embedder) -> None:
        identity = embedder.identity
        await embedder.embed([TOOLS])
        assert identity
        assert embedder.identity == identity
