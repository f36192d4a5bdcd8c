"""A text is cut where a reader would pause, and nothing of it is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.passages import MOST, SIZE, WHOLE, passages

SENTENCE = "We walked along the river and talked about the old house. "


@given(
    st.text(max_size=3000)
    | st.lists(st.sampled_from([SENTENCE, "日本語の文。", "no end here ", "\n", "?"])).map("".join)
)
def test_the_passages_cover_the_text_without_gap_or_overlap(text: str) -> None:
    spans = passages(text)
    assert "".join(text[start:stop] for start, stop in spans) == text
    assert all(start < stop for start, stop in spans) or text == ""


def test_a_short_text_stays_whole() -> None:
    text = "word " * WHOLE
    assert passages(text) == [(0, len(text))]


def test_an_empty_text_is_one_passage() -> None:
    assert passages("") == [(0, 0)]


def test_a_long_text_is_cut_at_sentence_ends() -> None:
    text = SENTENCE * 20
    pieces = [text[start:stop] for start, stop in passages(text)]
    assert len(pieces) > 1
    assert all(piece.rstrip().endswith("house.") and len(piece.split()) <= SIZE for piece in pieces)


def test_a_text_without_sentence_ends_is_cut_all_the_same() -> None:
    text = "word " * 1000
    assert all(len(text[start:stop].split()) <= SIZE for start, stop in passages(text))


@pytest.mark.parametrize("text", ["漢" * 5000, "ไทย" * 2000, "a" * 20_000, "私は本を読む。" * 400])
def test_a_script_without_spaces_is_cut_too(text: str) -> None:
    spans = passages(text)
    assert len(spans) > 5
    assert max(stop - start for start, stop in spans) < len(text) / 5


@pytest.mark.parametrize(
    "text", [SENTENCE * 17_000, "word " * 200_000, "x" * 1_000_000, "漢" * 400_000, "? " * 500_000]
)
def test_a_very_long_text_gets_larger_passages_instead_of_more(text: str) -> None:
    assert len(passages(text)) <= MOST
