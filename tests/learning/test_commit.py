"""What is written for a decision: versions that are never overwritten, sources, history; and how it is undone."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.domain.claims import Claim, Standing
from commonplace.domain.errors import Conflict, InvalidInput
from commonplace.domain.values import Fact, FactId, Message, MessageId
from commonplace.learning.commit import restore, retract, revise
from commonplace.learning.draft import Draft
from commonplace.learning.undo import undo
from tests.learning.simulator import Simulator, a_claim, day


def told(memory: Simulator, at: float, *claims: Claim) -> Draft:
    message = Message(
        id=MessageId(f"m{len(memory.messages) + 1}"),
        role="user",
        text="I do",
        at=day(at),
        recorded_at=memory.now(),
        metadata={"topic": "work"},
        expires_at=day(900),
    )
    _, draft = memory.drafted(message, claims)
    memory.apply(draft)
    return draft


class TestVersions:
    def test_a_new_fact_has_what_it_needs_from_its_message(self) -> None:
        memory = Simulator()
        draft = told(memory, 1, a_claim("Magnet", "uses", start=2, stop=9))
        (fact,) = draft.facts
        assert (fact.version, fact.said_at, fact.sources) == (1, day(1), ("m1",))
        assert fact.recorded_at == memory.messages[MessageId("m1")].recorded_at
        assert (fact.metadata, fact.expires_at, fact.extractor) == ({"topic": "work"}, day(900), "simulator/1")
        assert [(s.fact, s.message, s.start, s.stop, s.role) for s in draft.sources] == [(fact.id, "m1", 2, 9, "said")]
        assert [(c.change, c.reason, c.message) for c in draft.history] == [
            ("learned", "nothing known against it", "m1")
        ]

    def test_an_end_is_a_next_version_and_the_first_stays_as_it_was(self) -> None:
        memory = Simulator()
        told(memory, 1, a_claim("Magnet", "uses"))
        before = memory.now()
        draft = told(memory, 5, a_claim("Magnet", "uses", "ended"))
        assert [(old.version, old.retracted_at is None) for old in draft.closed] == [(1, False)]
        assert [(new.version, new.valid_to) for new in draft.facts] == [(2, day(5))]
        assert [(source.message, source.role) for source in draft.sources] == [("m2", "ended")]
        assert [(change.change, change.version, change.message) for change in draft.history] == [("ended", 2, "m2")]
        assert [fact.valid_to for fact in memory.as_of(before)] == [None]

    def test_what_replaces_a_fact_is_named_in_it(self) -> None:
        memory = Simulator()
        told(memory, 1, a_claim("Berlin"))
        draft = told(memory, 5, a_claim("Paris"))
        new, closed = sorted(draft.facts, key=lambda fact: fact.version)
        assert closed.replaced_by == new.id
        assert {change.change for change in draft.history} == {"learned", "replaced"}

    def test_a_mistake_has_no_next_version(self) -> None:
        memory = Simulator()
        told(memory, 1, a_claim("Lyon"))
        draft = told(memory, 2, a_claim("Nantes", standing="corrects"))
        (right,) = draft.facts
        assert [(old.version, old.replaced_by) for old in draft.closed] == [(1, right.id)]
        assert [fact.value for fact in memory.believed] == ["Nantes"]

    def test_saying_it_again_adds_a_source_and_no_version(self) -> None:
        memory = Simulator()
        told(memory, 1, a_claim("Berlin"))
        draft = told(memory, 2, a_claim("Berlin"))
        assert (draft.facts, draft.closed) == ((), ())
        assert [(again.version, round(again.confidence, 6)) for again in draft.reinforced] == [(1, 0.99)]
        assert [fact.sources for fact in memory.believed] == [("m1", "m2")]

    def test_more_detail_is_a_next_version_with_the_new_words(self) -> None:
        memory = Simulator()
        told(memory, 1, a_claim("dog", "pet", text="User has a dog"))
        draft = told(memory, 2, a_claim("Rex", "pet", text="User has a dog named Rex"))
        assert [(fact.version, fact.text, fact.sources) for fact in draft.facts] == [
            (2, "User has a dog named Rex", ("m1", "m2"))
        ]

    def test_a_fact_that_two_decisions_change_gets_one_next_version(self) -> None:
        memory = Simulator()
        told(memory, 1, a_claim("Madrid"))
        draft = told(memory, 9, a_claim("Madrid", standing="ended", valid_to=day(5)), a_claim("Porto"))
        assert sorted((fact.value, fact.version) for fact in draft.facts) == [("Madrid", 2), ("Porto", 1)]

    def test_nothing_decided_is_nothing_written(self) -> None:
        assert told(Simulator(), 1) == Draft()


class TestByHand:
    fact = Fact(id=FactId("f1"), text="Allergic to peanuts", said_at=day(1), recorded_at=day(1))

    def test_a_revision_is_a_next_version(self) -> None:
        draft = revise(self.fact, replace(self.fact, text="Allergic to nuts"), now=day(2), reason="typo")
        assert [(fact.version, fact.text, fact.recorded_at) for fact in draft.facts] == [
            (2, "Allergic to nuts", day(2))
        ]
        assert [(old.version, old.retracted_at) for old in draft.closed] == [(1, day(2))]
        assert [(change.change, change.reason) for change in draft.history] == [("revised", "typo")]

    def test_a_retraction_has_no_successor_and_can_be_restored(self) -> None:
        gone = retract(self.fact, now=day(2))
        assert (gone.facts, [old.version for old in gone.closed]) == ((), [1])
        back = restore(replace(self.fact, retracted_at=day(2)), now=day(3))
        assert back.closed == ()
        (fact,) = back.facts
        assert fact == replace(self.fact, version=2, recorded_at=day(3))

    def test_what_cannot_be_is_refused(self) -> None:
        gone = replace(self.fact, retracted_at=day(2))
        with pytest.raises(InvalidInput, match="was retracted; restore it before it can be revised"):
            revise(gone, gone, now=day(3))
        with pytest.raises(InvalidInput, match="was retracted"):
            retract(gone, now=day(3))
        with pytest.raises(InvalidInput, match="is still believed"):
            restore(self.fact, now=day(3))
        with pytest.raises(InvalidInput, match="expected that of the fact to revise"):
            revise(self.fact, replace(self.fact, id=FactId("f2")), now=day(3))
        with pytest.raises(InvalidInput, match="expected a moment after valid_from"):
            revise(self.fact, replace(self.fact, valid_from=day(5), valid_to=day(4)), now=day(3))


Belief = tuple[str, str, float, datetime | None, datetime | None, str | None]


def beliefs(memory: Simulator) -> Mapping[FactId, Belief]:
    return {
        fact.id: (fact.text, fact.value, fact.confidence, fact.valid_from, fact.valid_to, fact.replaced_by)
        for fact in memory.believed
    }


PAIRS = [("home", "Berlin"), ("home", "Paris"), ("home", "Paris, France"), ("uses", "Magnet"), ("likes", "tea")]
PAIRS += [("dislikes", "tea"), ("employer", "Google"), ("employer", ""), ("job", "nurse"), ("diet", "vegan")]
STANDINGS: list[Standing] = ["holds", "holds", "ended", "denied", "corrects"]


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[int, list[Claim]]]:
    def claim() -> Claim:
        attribute, value = draw(st.sampled_from(PAIRS))
        standing = draw(st.sampled_from(STANDINGS))
        start = draw(st.none() | st.integers(0, 40))
        return a_claim(value, attribute, standing, valid_from=None if start is None else day(start))

    return [(draw(st.integers(1, 40)), [claim() for _ in range(draw(st.integers(1, 3)))]) for _ in range(5)]


@settings(max_examples=80)
@given(stories())
def test_undoing_a_decision_brings_back_exactly_what_was_believed(story: list[tuple[int, list[Claim]]]) -> None:
    memory = Simulator()
    for at, claims in story:
        before = beliefs(memory)
        draft = told(memory, at, *claims)
        after = beliefs(memory)
        back = undo(draft.steps, memory.latest(), now=memory.now())
        memory.apply(back)
        assert beliefs(memory) == before
        memory.apply(undo(back.steps, memory.latest(), now=memory.now(), reason="done again"))
        assert beliefs(memory) == after


@settings(max_examples=80)
@given(stories())
def test_everything_can_be_undone_step_by_step_to_the_very_beginning(story: list[tuple[int, list[Claim]]]) -> None:
    memory = Simulator()
    states, drafts = [], []
    for at, claims in story:
        states.append(beliefs(memory))
        drafts.append(told(memory, at, *claims))
    for before, draft in zip(reversed(states), reversed(drafts), strict=True):
        memory.apply(undo(draft.steps, memory.latest(), now=memory.now()))
        assert beliefs(memory) == before


def test_a_decision_cannot_be_undone_under_a_later_one() -> None:
    memory = Simulator()
    first = told(memory, 1, a_claim("Berlin"))
    told(memory, 5, a_claim("Paris"))
    with pytest.raises(Conflict, match="has been changed since, to version 2: undo that first"):
        undo(first.steps, memory.latest(), now=memory.now())


def test_what_was_undone_is_still_in_what_was_known_then() -> None:
    memory = Simulator()
    told(memory, 1, a_claim("Berlin"))
    draft = told(memory, 5, a_claim("Paris"))
    then = memory.now()
    memory.apply(undo(draft.steps, memory.latest(), now=memory.now()))
    assert {fact.value for fact in memory.as_of(then) if fact.valid_to is None} == {"Paris"}
    assert {fact.value for fact in memory.believed if fact.valid_to is None} == {"Berlin"}
