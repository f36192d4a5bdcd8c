"""What forgetting messages means for facts, decided on plain values."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from commonplace.care.forget import Consequences, Forgotten, Trail, consequences
from commonplace.domain.values import (
    ChangeKind,
    Fact,
    FactChange,
    FactId,
    FactVersion,
    Message,
    MessageId,
    Source,
)

START = datetime(2026, 5, 12, tzinfo=UTC)
FACT = FactId("f1")


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def message(id_: str, text: str) -> Message:
    return Message(id=MessageId(id_), role="user", text=text, at=START, recorded_at=START)


def version(
    text: str,
    *,
    number: int = 1,
    change: ChangeKind = "learned",
    by: str | None = "m1",
    valid_to: datetime | None = None,
    retracted_at: datetime | None = None,
) -> FactVersion:
    fact = Fact(
        id=FACT,
        text=text,
        said_at=START,
        recorded_at=day(number),
        version=number,
        valid_to=valid_to,
        retracted_at=retracted_at,
    )
    maker = None if by is None else MessageId(by)
    told = FactChange(fact=FACT, version=number, change=change, at=day(number), message=maker)
    return FactVersion(fact=fact, changes=(told,))


def again(one: FactVersion, by: str | None, change: ChangeKind = "reinforced") -> FactVersion:
    maker = None if by is None else MessageId(by)
    told = FactChange(fact=FACT, version=one.fact.version, change=change, at=day(9), message=maker)
    return replace(one, changes=(*one.changes, told))


def after(
    versions: Sequence[FactVersion],
    said: Sequence[str],
    *,
    forgetting: str,
    texts: dict[str, str],
    ended: Sequence[str] = (),
    before: datetime | None = None,
) -> Consequences:
    sources = [Source(fact=FACT, message=MessageId(one), start=0, stop=1) for one in said]
    sources += [Source(fact=FACT, message=MessageId(one), start=0, stop=1, role="ended") for one in ended]
    messages = {MessageId(id_): message(id_, text) for id_, text in texts.items()}
    gone = {id_: one for id_, one in messages.items() if id_ == forgetting}
    kept = {id_: one for id_, one in messages.items() if id_ != forgetting}
    return consequences([Trail(versions, sources)], Forgotten(messages=gone, before=before), kept=kept)


def test_a_fact_whose_only_source_goes_goes_too() -> None:
    found = after([version("uses Shram")], ["m1"], forgetting="m1", texts={"m1": "I use Shram"})
    assert found.facts == (FACT,)
    assert found.quotes == {"uses Shram"}


def test_a_fact_that_another_message_said_in_the_same_words_stays() -> None:
    texts = {"m1": "I use Shram", "m2": "As I said, I use Shram"}
    found = after([again(version("uses Shram"), "m2")], ["m1", "m2"], forgetting="m1", texts=texts)
    assert (found.facts, found.reworded, found.reopened) == ((), (), ())


def test_a_fact_whose_words_only_the_forgotten_message_said_goes() -> None:
    texts = {"m1": "I use Shram for taxes", "m2": "I use Shram"}
    found = after([again(version("uses Shram for taxes"), "m2")], ["m1", "m2"], forgetting="m1", texts=texts)
    assert found.facts == (FACT,)


def test_a_detail_that_the_forgotten_message_added_goes_and_the_fact_is_as_before() -> None:
    first = version("uses Shram", retracted_at=day(2))
    refined = version("uses Shram for taxes", number=2, change="refined", by="m2")
    texts = {"m1": "I use Shram", "m2": "I use Shram for taxes"}
    found = after([first, refined], ["m1", "m2"], forgetting="m2", texts=texts)
    assert [(one.version, one.like) for one in found.reworded] == [(2, 1)]
    assert [(one.version, one.like, one.change) for one in found.reopened] == [(3, 1, "revised")]
    assert "uses Shram for taxes" in found.quotes


def test_a_fact_that_the_forgotten_message_ended_is_open_again() -> None:
    first = version("uses Shram", retracted_at=day(2))
    over = version("uses Shram", number=2, change="ended", by="m2", valid_to=day(2))
    texts = {"m1": "I use Shram", "m2": "I no longer use Shram"}
    found = after([first, over], ["m1"], ended=["m2"], forgetting="m2", texts=texts)
    assert [(one.version, one.valid_to, one.change) for one in found.reopened] == [(3, None, "revised")]


def test_an_end_that_another_message_told_stays() -> None:
    first = version("uses Shram", retracted_at=day(2))
    over = version("uses Shram", number=2, change="ended", by="m2", valid_to=day(2))
    texts = {"m1": "I use Shram", "m2": "I no longer use Shram", "m3": "I do use Shram"}
    found = after([first, over], ["m1", "m3"], ended=["m2"], forgetting="m3", texts=texts)
    assert found.reopened == ()


def test_a_fact_that_the_forgotten_message_retracted_is_believed_again() -> None:
    wrong = again(version("uses Shram", retracted_at=day(9)), "m2", "retracted")
    texts = {"m1": "I use Shram", "m2": "I never used Shram"}
    found = after([wrong], ["m1"], ended=["m2"], forgetting="m2", texts=texts)
    assert [(one.version, one.change) for one in found.reopened] == [(2, "restored")]


def test_a_fact_that_somebody_retracted_by_hand_stays_retracted() -> None:
    wrong = again(version("uses Shram", retracted_at=day(9)), None, "retracted")
    texts = {"m1": "I use Shram", "m2": "I use Shram"}
    found = after([wrong], ["m1", "m2"], forgetting="m2", texts=texts)
    assert (found.facts, found.reopened) == ((), ())


def test_a_fact_that_was_also_written_by_hand_stays() -> None:
    told = again(version("uses Shram"), None, "reinforced")
    found = after([told], ["m1"], forgetting="m1", texts={"m1": "I use Shram"})
    assert found.facts == ()


def test_a_fact_written_by_hand_goes_with_the_time_it_was_written_in() -> None:
    told = version("uses Shram", change="remembered", by=None)
    assert after([told], [], forgetting="", texts={}, before=day(2)).facts == (FACT,)
    assert after([told], [], forgetting="", texts={}, before=day(1)).facts == ()


def test_what_a_fact_took_over_from_the_forgotten_message_is_taken_off() -> None:
    texts = {"m1": "I use Shram", "m2": "I use Shram"}
    facts = [again(version("uses Shram"), "m2")]
    assert after(facts, ["m1", "m2"], forgetting="m1", texts=texts).stripped == (FACT,)
    assert after(facts, ["m1", "m2"], forgetting="m2", texts=texts).stripped == ()
