"""What a claim by rules looks like: its words, its span, its standing, its weight, its time."""

from datetime import UTC, datetime

import pytest

from commonplace.adapters.rules import RuleExtractor
from commonplace.domain.attributes import attribute_named
from commonplace.domain.claims import Claim
from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Message, MessageId, Role
from commonplace.ports.extractor import Extractor, Said

TUESDAY = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
RULES = RuleExtractor()


def a_message(text: str, *, role: Role = "user", at: datetime = TUESDAY) -> Message:
    return Message(id=MessageId("m1"), role=role, text=text, at=at, recorded_at=at)


def claims(text: str, *before: str) -> tuple[Claim, ...]:
    return RULES.claims(a_message(text), before=[a_message(earlier) for earlier in before])


def the_claim(text: str, *before: str) -> Claim:
    (claim,) = claims(text, *before)
    return claim


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


async def test_rules_are_an_extractor() -> None:
    extractor: Extractor = RULES
    found = (await extractor.extract(Said(message=a_message("I use Shram and Magnet as productivity tools")))).claims
    assert [claim.value for claim in found] == ["Shram", "Magnet"]
    assert extractor.identity == "rules/1"


def test_a_language_that_nobody_wrote_is_refused() -> None:
    with pytest.raises(InvalidInput, match="languages"):
        RuleExtractor(languages=("en", "tlh"))


def test_a_language_that_was_not_asked_for_is_not_read() -> None:
    assert RuleExtractor(languages=("en",)).claims(a_message("Ich wohne in Hamburg")) == ()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I use Shram as a productivity tool", "User uses Shram as a productivity tool"),
        ("I don't use Magnet anymore", "User no longer uses Magnet"),
        ("I don't have a dog", "User does not have a dog"),
        ("I don't like olives", "User dislikes olives"),
        ("I live in Ghent with my wife", "User lives in Ghent with their wife"),
        ("My sister lives in Oslo", "User's sister lives in Oslo"),
        ("My parents live in Split", "User's parents live in Split"),
        ("I'm flying to Lisbon next Friday", "User is flying to Lisbon on 15 May 2026"),
        ("I want to visit Japan", "User wants to visit Japan"),
        ("I got a cat named Miso", "User has a cat named Miso"),
        ("We adopted a second cat, her name is Pixel", "User has a second cat named Pixel"),
        ("I was a waitress in college", "User is no longer a waitress"),
        ("We stopped using Slack, everything is on Teams now", "User no longer uses Slack"),
        ("I used to live in Lyon, then Paris", "User no longer lives in Lyon"),
        ("I worked at PayPal before that", "User no longer works at PayPal"),
        ("Tomasz and I aren't friends anymore", "User and Tomasz are no longer friends"),
        ("My girlfriend Ana left me", "User broke up with Ana"),
        ("I'm allergic to kiwi", "User is allergic to kiwi"),
        ("I walk my dog twice a day", "User walks their dog twice a day"),
        ("Ich benutze Slack nicht mehr", "User no longer uses Slack"),
        ("Soy alérgica a los gatos", "User is allergic to gatos"),
    ],
)
def test_facts_are_written_in_the_third_person(said: str, text: str) -> None:
    assert the_claim(said).text == text


def test_each_member_of_a_row_is_a_fact_of_its_own() -> None:
    texts = [claim.text for claim in claims("I use Shram and Magnet as productivity tools")]
    assert texts == ["User uses Shram as a productivity tool", "User uses Magnet as a productivity tool"]


def test_the_span_covers_the_words_that_the_claim_rests_on() -> None:
    text = "Hi there! By the way, I moved to Porto last year. Any tips?"
    claim = the_claim(text)
    assert "I moved to Porto" in text[claim.start : claim.stop]
    assert "tips" not in text[claim.start : claim.stop]


def test_odd_signs_do_not_shift_the_span() -> None:
    text = "“İ”… 👋🏽 ok\u00a0so I’m a nurse."
    claim = the_claim(text)
    assert "a nurse" in text[claim.start : claim.stop]


def test_a_value_keeps_its_case_and_the_subject_is_a_key() -> None:
    claim = claims("My dog Rex is 5")[1]
    assert (claim.subject, claim.attribute, claim.value) == ("user's dog rex", "age", "5")
    assert claims("My dog Rex is 5")[0].value == "Rex"


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ("I use Vim", "holds"),
        ("I use Vim again", "holds"),
        ("I don't just use Vim", "holds"),
        ("I no longer use Vim", "ended"),
        ("I stopped using Vim", "ended"),
        ("I used to use Vim", "ended"),
        ("I haven't used Vim in years", "ended"),
        ("I don't use Vim", "denied"),
        ("I've never used Vim", "denied"),
    ],
)
def test_the_standing_follows_tense_and_negation(said: str, standing: str) -> None:
    claim = the_claim(said)
    assert (claim.attribute, claim.value, claim.standing) == ("uses", "Vim", standing)


def test_a_move_ends_one_home_and_begins_another() -> None:
    left, reached = claims("We moved from Madrid to Porto in March")
    assert (left.value, left.standing, left.valid_to) == ("Madrid", "ended", day(2026, 4, 1))
    assert (reached.value, reached.standing, reached.valid_from) == ("Porto", "holds", day(2026, 3, 1))


def test_an_ending_without_a_name_leaves_the_value_open() -> None:
    claim = the_claim("I quit my job")
    assert (claim.attribute, claim.value, claim.standing) == ("employer", "", "ended")


@pytest.mark.parametrize(
    ("said", "begin", "end"),
    [
        ("I've lived in Osaka since 2019", day(2019, 1, 1), None),
        ("I've been using Notion for 3 years", day(2023, 5, 12), None),
        ("I was diagnosed with asthma in 2015", day(2015, 1, 1), None),
        ("I moved to Toronto two years ago", day(2024, 5, 1), None),
        ("I bought a kayak yesterday", day(2026, 5, 11), None),
        ("I left Google in 2021", None, day(2022, 1, 1)),
        ("I stopped using Slack last month", None, day(2026, 5, 1)),
        ("I quit smoking today", None, TUESDAY),
        ("I worked at Philips until 2015", None, day(2015, 1, 1)),
        ("I'm flying to Lisbon next Friday", day(2026, 5, 15), day(2026, 5, 16)),
        ("I have an exam tomorrow", day(2026, 5, 13), day(2026, 5, 14)),
        ("We're getting married on 12 June 2027", day(2027, 6, 12), day(2027, 6, 13)),
        ("I'll be in Vienna next week", day(2026, 5, 18), day(2026, 5, 25)),
        ("I'm travelling to Berlin from June 3 to June 8", day(2026, 6, 3), day(2026, 6, 9)),
    ],
)
def test_time_is_resolved_against_the_moment_of_the_message(
    said: str, begin: datetime | None, end: datetime | None
) -> None:
    claim = the_claim(said)
    assert (claim.valid_from, claim.valid_to) == (begin, end)


def test_a_date_that_does_not_exist_is_no_date() -> None:
    assert the_claim("I moved to Rome on 31 February 2020").valid_from is None


def test_a_correction_takes_its_meaning_from_what_was_said_before() -> None:
    claim = the_claim("No, I meant Bern.", "I live in Basel with my cat Mo.")
    assert (claim.attribute, claim.value, claim.standing) == ("home", "Bern", "corrects")
    assert claim.text == "User lives in Bern with their cat Mo"


def test_a_correction_names_what_was_wrong() -> None:
    claim = the_claim("Sorry, it's Theo, not Leo", "My son's name is Leo. My dog is called Rex.")
    assert (claim.attribute, claim.value, claim.standing) == ("child", "Theo", "corrects")


def test_what_does_not_look_alike_is_no_correction() -> None:
    assert claims("Actually, it's fine", "I live in Lyon") == ()


def test_a_correction_with_its_own_verb_needs_no_memory() -> None:
    assert the_claim("Actually, my name is Jon, not John", "My name is John").value == "Jon"


def test_an_explicit_remember_weighs_more() -> None:
    plain, asked = the_claim("I live in Ulm"), the_claim("Please remember that I live in Ulm")
    assert plain.importance < asked.importance <= 1.0


def test_health_weighs_more_than_reading_matter() -> None:
    assert the_claim("I'm allergic to nuts").importance > the_claim("I'm reading Middlemarch").importance


def test_a_guess_is_believed_less() -> None:
    assert the_claim("I think I'm allergic to pollen").confidence < the_claim("I'm allergic to pollen").confidence


def test_kind_comes_from_the_attribute_table() -> None:
    for text in ("I like jazz", "I use Vim", "I'm an introvert", "I want to visit Japan"):
        claim = the_claim(text)
        assert claim.kind == attribute_named(claim.attribute).kind


def test_the_same_thing_said_twice_is_claimed_once() -> None:
    assert len(claims("I use Vim. Yes, I use Vim!")) == 1


def test_opposites_point_at_each_other() -> None:
    for name in ("likes", "dislikes", "avoids", "consumes"):
        opposite = attribute_named(name).opposite
        assert opposite is not None
        assert attribute_named(opposite).opposite == name


def test_an_unknown_attribute_replaces_nothing() -> None:
    assert not attribute_named("shoe collection").single
    assert attribute_named("favourite colour").single
    assert attribute_named("detail gate code").single


def test_two_appointments_have_each_their_own_day() -> None:
    dentist, flight = claims("I've got a dentist appointment tomorrow and a flight to Denver on Thursday.")
    assert (dentist.valid_from, dentist.valid_to) == (day(2026, 5, 13), day(2026, 5, 14))
    assert (flight.valid_from, flight.valid_to) == (day(2026, 5, 14), day(2026, 5, 15))


@pytest.mark.parametrize(
    ("said", "began", "ended"),
    [
        ("I started at Ikea a fortnight ago", day(2026, 4, 28), None),
        ("Moved to Bergen the day before yesterday", day(2026, 5, 10), None),
        ("I sold my boat the summer before last", None, day(2024, 9, 1)),
        ("I sold my boat the year before last", None, day(2025, 1, 1)),
    ],
)
def test_older_times_are_understood(said: str, began: datetime | None, ended: datetime | None) -> None:
    claim = the_claim(said)
    assert (claim.valid_from, claim.valid_to) == (began, ended)


def test_a_word_that_was_put_in_stands_nowhere_in_the_message() -> None:
    said = "They promoted me to team lead"
    claim = the_claim(said)
    assert said[claim.start : claim.stop] == said
