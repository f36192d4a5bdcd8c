"""Why-not: each thing that can keep an item out of the results has an answer of its own."""

from datetime import UTC, datetime

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.memory import AsyncMemory

THEN, LATER = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC)
TOOLS = "Which productivity tools do I use?"

pytestmark = pytest.mark.backends("ledgers")


async def test_an_item_that_is_there_is_told_with_its_place(memory: AsyncMemory) -> None:
    fact = await memory.remember("Uses Shram as a productivity tool", user="ana")

    found = await memory.why_not(fact.id, TOOLS, user="ana")

    assert (found.reason, found.rank, found.text) == ("returned", 1, fact.text)


async def test_somebody_elses_item_is_as_unknown_as_one_that_nobody_has(memory: AsyncMemory) -> None:
    fact = await memory.remember("Uses Shram as a productivity tool", user="ana")

    theirs = await memory.why_not(fact.id, TOOLS, user="ben")
    nobodys = await memory.why_not("nothing", TOOLS, user="ben")

    assert theirs.reason == nobodys.reason == "unknown"
    assert theirs.explanation.replace(fact.id, "nothing") == nobodys.explanation
    assert theirs.text is None


async def test_a_retracted_fact_is_told_with_the_reason(memory: AsyncMemory) -> None:
    fact = await memory.remember("Uses Magnet as a productivity tool", user="ana")
    await memory.retract(fact.id, user="ana", reason="never did")

    found = await memory.why_not(fact.id, TOOLS, user="ana")

    assert found.reason == "retracted"
    assert found.since is not None
    assert "never did" in found.explanation


async def test_a_fact_that_has_ended_is_told_with_the_message_that_ended_it(memory: AsyncMemory) -> None:
    added = await memory.add("I use Shram and Magnet as productivity tools", user="ana", at=THEN)
    ended = await memory.add("I don't use Magnet anymore", user="ana", at=LATER)
    texts = {change.fact: (await memory.history(change.fact, user="ana"))[0].text for change in added.changes}
    magnet = next(fact for fact, text in texts.items() if "Magnet" in text)

    found = await memory.why_not(magnet, TOOLS, user="ana")

    assert (found.reason, found.since, found.message) == ("ended", LATER, ended.messages[0])


async def test_an_expired_message_is_told_with_when_it_expired(memory: AsyncMemory) -> None:
    added = await memory.add("My parking spot is B12", user="ana", at=THEN, expires_at=LATER, learn=False)

    found = await memory.why_not(added.messages[0], "Where is my parking spot?", user="ana")

    assert (found.reason, found.since) == ("expired", LATER)


@pytest.mark.parametrize(
    ("arguments", "filters"),
    [
        ({"kinds": "message"}, ("kinds",)),
        ({"session": "other"}, ("session",)),
        ({"during": (LATER, None)}, ("during",)),
        ({"where": {"topic": "home"}}, ("where",)),
        ({"session": "other", "where": {"topic": "home"}}, ("session", "where")),
        ({"as_of": THEN}, ("as_of",)),
    ],
)
async def test_the_filters_that_leave_an_item_out_are_named(
    memory: AsyncMemory, arguments: dict[str, object], filters: tuple[str, ...]
) -> None:
    fact = await memory.remember("Uses Shram as a productivity tool", user="ana", metadata={"topic": "work"})
    if "during" in arguments:
        arguments = {"during": (datetime(2090, 1, 1, tzinfo=UTC), None)}

    found = await memory.why_not(fact.id, TOOLS, user="ana", **arguments)  # type: ignore[arg-type]

    assert (found.reason, found.filters) == ("filtered", filters)


async def test_a_fact_that_begins_later_is_not_yet_there(memory: AsyncMemory) -> None:
    fact = await memory.remember("Uses Shram as a productivity tool", user="ana", valid_from=LATER)

    found = await memory.why_not(fact.id, TOOLS, user="ana", valid_at=THEN)

    assert (found.reason, found.since) == ("not yet", LATER)


async def test_beyond_the_limit_its_numbers_stand_beside_those_of_the_last_result(memory: AsyncMemory) -> None:
    facts = [await memory.remember(f"Uses {name} as a productivity tool", user="ana") for name in "ABCDE"]
    shown = await memory.recall(TOOLS, user="ana", limit=2)
    missing = next(fact for fact in facts if fact.id not in {item.id for item in shown})

    found = await memory.why_not(missing.id, TOOLS, user="ana", limit=2)

    assert found.reason == "beyond the limit"
    assert found.rank is not None and found.rank > 2
    assert found.last is not None and found.last.id == shown[-1].id
    assert found.why is not None and found.last.why is not None
    assert found.why.parts.keys() == found.last.why.parts.keys()
    assert sum(found.why.parts.values()) == pytest.approx(found.why.fused, abs=1e-4)


async def test_below_the_threshold_both_numbers_are_told(memory: AsyncMemory) -> None:
    await memory.remember("Uses Shram as a productivity tool", user="ana")
    other = await memory.remember("Sister lives in Kyiv", user="ana")

    found = await memory.why_not(other.id, TOOLS, user="ana", min_relevance=0.9)

    assert found.reason in {"irrelevant", "not found"}
    if found.reason == "irrelevant":
        assert found.relevance is not None
        assert found.threshold == 0.9
        assert found.relevance < found.threshold


async def test_a_message_said_twice_is_shown_once_and_the_other_is_a_duplicate(memory: AsyncMemory) -> None:
    first = await memory.add("The plumber comes on Tuesday", user="ana", session="a", learn=False, at=THEN)
    second = await memory.add("the plumber comes on  Tuesday", user="ana", session="b", learn=False, at=LATER)
    shown = await memory.recall("When does the plumber come?", user="ana")

    assert len(shown) == 1
    assert set(shown[0].sources) == {first.messages[0], second.messages[0]}
    hidden = ({first.messages[0], second.messages[0]} - {shown[0].id}).pop()
    found = await memory.why_not(hidden, "When does the plumber come?", user="ana")
    assert (found.reason, found.by) == ("duplicate", shown[0].id)


async def test_an_empty_id_and_a_wrong_query_are_refused_by_name(memory: AsyncMemory) -> None:
    with pytest.raises(InvalidInput, match="item_id"):
        await memory.why_not("", TOOLS, user="ana")
    with pytest.raises(InvalidInput, match="query"):
        await memory.why_not("x", 3, user="ana")  # type: ignore[arg-type]
