"""Words that mean the same are one term; every script can be searched."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.terms import STEMMERS, Terms, analyse, date_terms, term_of


def test_forms_of_a_word_are_one_term() -> None:
    assert set(analyse("She went running")) == set(analyse("go runs"))
    assert set(analyse("my mom and the children")) == set(analyse("Mother; child"))


def test_words_of_talk_are_left_out() -> None:
    assert not set(analyse("Wow, thanks! I really don't know, it's what you said?")) - set(analyse("said"))


def test_apostrophes_split() -> None:
    assert set(analyse("Caroline's")) == set(analyse("caroline")) == set(analyse("Caroline\u2019s"))


def test_counts_are_kept() -> None:
    assert list(analyse("tea and tea and coffee").values()) == [2, 1]


def test_wide_and_accented_letters_are_the_same_letters() -> None:
    assert analyse("ＣＡＦＥ") == analyse("café") == analyse("cafe")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("私は東京に住んでいます", "東京", "大阪"),
        ("我喜欢吃四川菜", "四川", "广东"),
        ("我有一只猫", "猫", "狗"),
        ("私の猫の名前はタマです", "猫", "犬"),
        ("저는 서울에 살아요", "서울", "부산"),
        ("ฉันอาศัยอยู่ในกรุงเทพ", "กรุงเทพ", "เชียงใหม่"),
        ("मैं दिल्ली में रहता हूँ", "दिल्ली", "मुंबई"),
        ("Я живу в Москве", "Москве", "Казани"),
        ("أعيش في القاهرة", "القاهرة", "دمشق"),
    ],
)
def test_a_word_is_found_in_its_script(text: str, inside: str, outside: str) -> None:
    assert set(analyse(inside)) <= set(analyse(text))
    assert not set(analyse(outside)) <= set(analyse(text))


def test_scripts_side_by_side_are_told_apart() -> None:
    assert set(analyse("Python入門")) == set(analyse("python 入門"))


def test_a_single_character_is_a_term() -> None:
    assert len(analyse("猫")) == 1


def test_the_month_of_may_is_no_stop_word() -> None:
    assert not analyse("may I?")
    assert set(analyse("we met in May")) - set(analyse("we met in")) == set(date_terms(2023, 5, 8, "en")) - set(
        analyse("8 2023")
    )


def test_a_day_is_found_by_its_parts() -> None:
    assert set(date_terms(2023, 6, 8, "en")) == set(analyse("8 June 2023"))


@pytest.mark.parametrize("language", sorted(STEMMERS))
def test_each_language_has_a_stemmer_that_works(language: str) -> None:
    assert analyse("abc 123", language=language)


def test_german_is_stemmed_as_german() -> None:
    assert set(analyse("Häuser", language="de")) == set(analyse("Haus", language="de"))


def test_a_language_without_stemmer_is_searched_by_word_forms() -> None:
    assert len(analyse("ndege nyumba", language="sw")) == 2


@given(st.text())
def test_any_text_can_be_analysed(text: str) -> None:
    assert all(0 <= term < 2**64 and count > 0 for term, count in analyse(text).items())


def test_a_lone_surrogate_and_nul_are_no_harm() -> None:
    assert analyse("a\ud800b tea\x00leaf")


def test_threads_that_meet_new_words_at_once_get_the_right_terms() -> None:
    """Several memories of one process share what is known of words, and each has a thread of its own."""
    words = [
        f"{a}{b}{c}"
        for a in ("run", "nation", "happi", "organ")
        for b in ("al", "iz", "fulness")
        for c in ("ing", "ed")
    ]
    right = {word: Terms("en")[word] for word in words}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            for _ in range(10):
                terms = Terms("en")
                assert list(threads.map(terms.__getitem__, words)) == [right[word] for word in words]
    finally:
        sys.setswitchinterval(interval)


def test_what_is_known_of_words_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.recall.terms.KEPT", 3)
    terms = Terms("en")
    assert [terms[word] for word in ("a", "cat", "sat", "down", "cat")] == [
        None,
        *(term_of(w, "en") for w in ("cat", "sat", "down", "cat")),
    ]
    assert len(terms) <= 3
