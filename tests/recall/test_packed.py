"""What is packed comes out again, for one row or for thousands at once."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.domain.errors import LedgerCorrupt
from commonplace.recall.features import SIGNS, Has, features
from commonplace.recall.packed import (
    CAPTION,
    DATE,
    OWN,
    SPEAKER,
    Analysed,
    analyse_row,
    hashes,
    index_text,
    pack,
    unpack,
)
from commonplace.recall.terms import analyse

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
COUNTS = st.dictionaries(st.integers(0, 2**64 - 1), st.integers(1, 255), max_size=20).map(Counter[int])


@settings(max_examples=60)
@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, st.text()), max_size=8))
def test_many_rows_are_read_at_once(
    rows: list[tuple[Counter[int], Counter[int], Counter[int], Counter[int], str]],
) -> None:
    analysed = [
        Analysed(own=own, speaker=speaker, date=date, caption=caption, features=features(text), whole=7)
        for own, speaker, date, caption, text in rows
    ]
    found = unpack([pack(row) for row in analysed])
    for number, row in enumerate(analysed):
        for section, terms in ((OWN, row.own), (SPEAKER, row.speaker), (DATE, row.date), (CAPTION, row.caption)):
            mine = (found.row == number) & (found.section == section)
            assert dict(zip(found.hashes[mine].tolist(), found.counts[mine].tolist(), strict=True)) == dict(terms)
        assert found.words[number] == row.features.words
        assert found.has[number] == row.features.has
        assert found.first_person[number] == pytest.approx(row.features.first_person, abs=0.01)
    assert (found.whole == 7).all()


def test_every_term_is_listed_for_a_full_text_table() -> None:
    row = analyse_row("Basic games", speaker="Ana", at=MAY, caption="a chess board")
    assert set(hashes(pack(row))) == set(analyse("basic games ana 8 in May 2023 chess board"))
    assert list(hashes(pack(row))) == unpack([pack(row)]).hashes.tolist()


@pytest.mark.parametrize("damage", [lambda blob: blob[:9], lambda blob: blob[:-8], lambda blob: b"\x07" + blob[1:]])
def test_the_terms_of_a_damaged_row_are_not_guessed(damage: Callable[[bytes], bytes]) -> None:
    blob = pack(analyse_row("tea in the garden"))
    with pytest.raises(LedgerCorrupt):
        hashes(damage(blob))


def test_a_passage_knows_the_length_of_its_whole() -> None:
    assert analyse_row("two words", whole=5).whole == 5


@pytest.mark.parametrize("damage", [b"", b"\x00" * 16, b"\x01" * 24, b"x" * 17])
def test_a_damaged_row_is_reported(damage: bytes) -> None:
    with pytest.raises(LedgerCorrupt):
        unpack([pack(analyse_row("fine")), damage])


def test_the_embedder_reads_who_said_it_and_when() -> None:
    text = index_text("Look!", speaker="Ana", at=MAY, caption="a cat")
    assert text == "[8 May 2023] Ana: Look! [shares a cat]"
    assert index_text("Look!") == "Look!"


def test_what_a_text_has_is_seen() -> None:
    assert features("What kind of programs?").has == Has.ASKS | Has.ENDS_ASKING
    assert Has.TIME in features("I ran it last Saturday").has
    assert Has.TIME in features("in May I ran").has
    assert Has.TIME not in features("it may rain").has
    assert Has.PLACE in features("we moved to Berlin").has
    assert Has.NUMBER in features("three cats").has
    assert Has.NAME in features("then I met Rob").has
    assert Has.NAME not in features("Then I ran").has


def test_who_is_spoken_of_is_measured() -> None:
    assert features("I love my cat").first_person == pytest.approx(0.5)
    assert features("you and your cat").second_person == pytest.approx(0.5)


@given(
    st.lists(
        st.sampled_from(
            [
                "I",
                "we",
                "You",
                "yesterday",
                "last",
                "next",
                "week",
                "May",
                "5",
                "in",
                "two",
                "couple",
                "because",
                "inspired",
                "so",
                "that",
                "from",
                "now",
                "on",
                "please",
                "always",
                "never",
                "call",
                "me",
                "prefer",
                "Berlin",
                "to",
                '"quoted"',
                "what?",
                "help",
                "2023",
                "3rd",
                "Sundays",
                "of",
                ".",
                "!",
                "_now",
                "x_last",
            ]
        ),
        max_size=12,
    ).map(" ".join)
)
@settings(max_examples=300)
def test_the_short_way_past_a_pattern_never_misses_what_the_pattern_would_find(text: str) -> None:
    found = features(text).has
    for sign in SIGNS:
        if sign.pattern.search(text):
            assert found & sign.flag, sign.pattern.pattern
