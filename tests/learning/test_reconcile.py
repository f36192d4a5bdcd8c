"""What a claim means for what is known: each rule of the decisions, on its own."""

from dataclasses import replace

import pytest

from commonplace.domain.claims import Claim, Ends, Ignored, New, Refines, Replaces, Same
from commonplace.domain.values import Fact, FactId
from commonplace.learning.reconcile import needs, reconcile
from tests.learning.simulator import Simulator, a_claim, day, timeline


def a_fact(value: str, attribute: str = "home", **fields: object) -> Fact:
    fact = Fact(
        id=FactId(value.lower()),
        text=f"User {attribute} {value}",
        confidence=0.9,
        said_at=day(1),
        recorded_at=day(1),
        attribute=attribute,
        value=value,
    )
    return replace(fact, **fields)  # type: ignore[arg-type]


def texts(memory: Simulator, at: float) -> set[str]:
    return {fact.text for fact in memory.valid_at(day(at))}


class TestOneThingForAnother:
    def test_what_follows_an_ending_takes_its_attribute_and_its_words(self) -> None:
        law = a_fact("law", "studies", text="User studies law at Leiden")
        claims = [
            a_claim("law", "uses", standing="ended", confidence=0.4),
            a_claim("medicine", "uses", follows=True, confidence=0.4),
        ]
        ends, new = reconcile(claims, [law], said_at=day(5))
        assert isinstance(ends, Ends)
        assert isinstance(new, New)
        assert (new.claim.attribute, new.claim.text) == ("studies", "User studies medicine")
        assert (new.claim.confidence, new.valid_from) == (0.9, day(5))

    def test_what_is_sure_holds_where_nothing_has_ended(self) -> None:
        claims = [a_claim("Chrome", "uses", standing="ended"), a_claim("Firefox", "uses", follows=True)]
        _, new = reconcile(claims, [], said_at=day(5))
        assert isinstance(new, New)
        assert (new.claim.attribute, new.claim.value) == ("uses", "Firefox")

    def test_what_follows_nothing_known_is_nothing(self) -> None:
        claims = [
            a_claim("days", "uses", standing="ended", confidence=0.4),
            a_claim("nights", "uses", follows=True, confidence=0.4),
        ]
        decisions = reconcile(claims, [a_fact("Berlin")], said_at=day(5))
        assert [type(one) for one in decisions] == [Ignored, Ignored]

    def test_it_asks_for_all_that_it_may_turn_out_to_be(self) -> None:
        assert ("user", "not studies") in needs([a_claim("medicine", "uses", follows=True)])


class TestDiets:
    @pytest.mark.parametrize("order", [(2, 5), (5, 2)], ids=["as said", "the diet is told late"])
    def test_what_is_eaten_again_ends_the_diet_that_forbids_it(self, order: tuple[int, int]) -> None:
        memory = Simulator()
        told = {2: a_claim("vegan", "diet"), 5: a_claim("meat", "consumes", valid_from=day(5))}
        for at in order:
            memory.tell(day(at), told[at])
        assert timeline(memory.believed, "diet") == [("vegan", None, day(5))]
        assert timeline(memory.believed, "consumes") == [("meat", day(5), None)]

    def test_what_is_eaten_now_and_then_does_not(self) -> None:
        (decision,) = reconcile([a_claim("fish", "consumes")], [a_fact("vegetarian", "diet")], said_at=day(5))
        assert isinstance(decision, New)

    def test_a_diet_ends_what_it_forbids(self) -> None:
        (decision,) = reconcile([a_claim("vegan", "diet")], [a_fact("cheese", "consumes")], said_at=day(5))
        assert isinstance(decision, Replaces)
        assert decision.known == ("cheese",)


class TestSingleValued:
    def test_a_first_value_has_no_start_because_nobody_said_when_it_began(self) -> None:
        (decision,) = reconcile([a_claim("Berlin")], [], said_at=day(1))
        assert decision == New(a_claim("Berlin"), "nothing known against it")

    def test_another_value_replaces_the_known_one_from_when_it_is_said(self) -> None:
        (decision,) = reconcile([a_claim("Paris")], [a_fact("Berlin")], said_at=day(5))
        assert isinstance(decision, Replaces)
        assert (decision.known, decision.since, decision.valid_to) == (("berlin",), day(5), None)
        assert decision.reason == "same attribute `home`, new value; User home Berlin until 6 January 2026"

    def test_another_value_replaces_the_known_one_from_the_day_that_was_told(self) -> None:
        claim = a_claim("Paris", valid_from=day(3))
        (decision,) = reconcile([claim], [a_fact("Berlin")], said_at=day(5))
        assert isinstance(decision, Replaces)
        assert decision.since == day(3)

    def test_another_subject_cannot_conflict(self) -> None:
        sister = a_claim("Oslo", subject="user's sister")
        (decision,) = reconcile([sister], [a_fact("Berlin")], said_at=day(5))
        assert isinstance(decision, New)

    def test_a_back_dated_value_is_put_before_what_was_said_later(self) -> None:
        memory = Simulator()
        memory.tell(day(10), a_claim("Paris"))
        memory.tell(day(5), a_claim("Berlin"))
        assert timeline(memory.believed, "home") == [("Berlin", None, day(10)), ("Paris", day(10), None)]

    def test_a_told_start_does_not_wipe_out_what_was_said_after_it(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Berlin"))
        memory.tell(day(10), a_claim("Rome"))
        memory.tell(day(20), a_claim("Oslo", valid_from=day(5)))
        assert timeline(memory.believed, "home") == [
            ("Berlin", None, day(10)),
            ("Rome", day(10), day(20)),
            ("Oslo", day(20), None),
        ]

    def test_a_value_that_came_back_was_there_twice(self) -> None:
        memory = Simulator()
        for at, value in ((1, "Berlin"), (5, "Paris"), (9, "Berlin")):
            memory.tell(day(at), a_claim(value))
        assert timeline(memory.believed, "home") == [
            ("Berlin", None, day(5)),
            ("Paris", day(5), day(9)),
            ("Berlin", day(9), None),
        ]

    def test_a_late_word_cuts_in_two_what_was_said_before_and_after_it(self) -> None:
        memory = Simulator()
        for at, value in ((1, "Berlin"), (9, "Berlin"), (5, "Paris")):
            memory.tell(day(at), a_claim(value))
        assert timeline(memory.believed, "home") == [
            ("Berlin", None, day(5)),
            ("Paris", day(5), day(9)),
            ("Berlin", day(9), None),
        ]
        assert [fact.sources for fact in memory.believed if fact.valid_from == day(9)] == [("m2",)]

    def test_a_stretch_of_the_past_is_put_in_its_place(self) -> None:
        memory = Simulator()
        memory.tell(day(100), a_claim("Berlin", valid_from=day(10)))
        memory.tell(day(101), a_claim("Rome", valid_from=day(2), valid_to=day(8)))
        assert timeline(memory.believed, "home") == [("Rome", day(2), day(8)), ("Berlin", day(10), None)]

    def test_a_longer_name_of_the_same_place_refines_it(self) -> None:
        (decision,) = reconcile([a_claim("New York City")], [a_fact("New York")], said_at=day(5))
        assert isinstance(decision, Same | Refines)

    def test_a_name_refines_the_kind(self) -> None:
        claim = a_claim("Anna", "partner", text="User has a wife named Anna")
        (decision,) = reconcile([claim], [a_fact("wife", "partner", text="User has a wife")], said_at=day(5))
        assert isinstance(decision, Refines)


class TestManyValued:
    def test_another_value_is_new(self) -> None:
        (decision,) = reconcile([a_claim("Magnet", "uses")], [a_fact("Shram", "uses")], said_at=day(5))
        assert isinstance(decision, New)

    @pytest.mark.parametrize("value", ["Visual Studio Code", "VS Code", "vs code"])
    def test_the_same_value_in_other_words_is_the_same_fact(self, value: str) -> None:
        known = a_fact("VS Code", "uses")
        (decision,) = reconcile([a_claim(value, "uses")], [known], said_at=day(5))
        assert isinstance(decision, Same)
        assert decision.known == known.id

    def test_more_about_it_refines_the_fact(self) -> None:
        claim = a_claim("Rex", "pet", text="User has a dog named Rex")
        (decision,) = reconcile([claim], [a_fact("dog", "pet", text="User has a dog")], said_at=day(5))
        assert isinstance(decision, Refines)
        assert decision.reason == "more about what was known: User has a dog"

    def test_less_about_it_is_the_same(self) -> None:
        known = a_fact("Rex", "pet", text="User has a dog named Rex")
        (decision,) = reconcile([a_claim("dog", "pet", text="User has a dog")], [known], said_at=day(5))
        assert isinstance(decision, Same)

    def test_a_second_dog_is_a_second_fact(self) -> None:
        claim = a_claim("Bella", "pet", text="User has a dog named Bella")
        known = a_fact("Rex", "pet", text="User has a dog named Rex")
        assert isinstance(reconcile([claim], [known], said_at=day(5))[0], New)

    def test_values_that_exclude_each_other_replace_each_other(self) -> None:
        (decision,) = reconcile([a_claim("vegan", "diet")], [a_fact("vegetarian", "diet")], said_at=day(5))
        assert isinstance(decision, Replaces)
        (decision,) = reconcile([a_claim("vegan", "diet")], [a_fact("kosher", "diet")], said_at=day(5))
        assert isinstance(decision, New)

    def test_disliking_ends_liking_the_same_and_nothing_else(self) -> None:
        known = [a_fact("coffee", "likes"), a_fact("tea", "likes")]
        (decision,) = reconcile([a_claim("coffee", "dislikes")], known, said_at=day(5))
        assert isinstance(decision, Replaces)
        assert decision.known == ("coffee",)

    def test_embeddings_find_the_same_in_quite_other_words(self) -> None:
        known, claim = a_fact("long walks in nature", "hobby"), a_claim("hiking outdoors", "hobby")
        assert isinstance(reconcile([claim], [known], said_at=day(5), alike=lambda *_: 0.99)[0], Same)
        assert isinstance(reconcile([claim], [known], said_at=day(5), alike=lambda *_: 0.5)[0], New)

    def test_embeddings_never_merge_different_names(self) -> None:
        known, claim = a_fact("long walks in the Alps", "hobby"), a_claim("hiking in the Andes", "hobby")
        assert isinstance(reconcile([claim], [known], said_at=day(5), alike=lambda *_: 0.99)[0], New)

    def test_a_plan_with_a_new_date_has_moved(self) -> None:
        known = a_fact("trip to Japan", "plans", valid_from=day(50), valid_to=day(60))
        claim = a_claim("trip to Japan", "plans", valid_from=day(80), valid_to=day(90))
        (decision,) = reconcile([claim], [known], said_at=day(5))
        assert isinstance(decision, Refines)
        assert (decision.valid_from, decision.valid_to) == (day(80), day(90))


class TestEndings:
    def test_an_end_closes_the_fact_it_means(self) -> None:
        known = [a_fact("Magnet", "uses"), a_fact("Shram", "uses")]
        (decision,) = reconcile([a_claim("Magnet", "uses", "ended")], known, said_at=day(5))
        assert isinstance(decision, Ends)
        assert (decision.known, decision.since) == (("magnet",), day(5))

    def test_an_end_is_dated_when_it_was_told_when(self) -> None:
        claim = a_claim("Magnet", "uses", "ended", valid_to=day(3))
        (decision,) = reconcile([claim], [a_fact("Magnet", "uses")], said_at=day(5))
        assert isinstance(decision, Ends)
        assert decision.since == day(3)

    @pytest.mark.parametrize(
        ("claim", "known"),
        [
            (a_claim("smoking", "habit", "ended"), a_fact("smoke", "habit")),
            (a_claim("Honda", "owns", "ended"), a_fact("2014 Honda Civic", "owns")),
            (a_claim("Honda", "owns", "ended"), a_fact("Honda Civic", "uses")),
            (a_claim("cat", "pet", "ended"), a_fact("Miso", "pet", text="User has a cat named Miso")),
            (a_claim("", "partner", "ended"), a_fact("Anna", "partner")),
            (a_claim("job", "employer", "ended"), a_fact("Google", "employer")),
            (a_claim("", "employer", "ended"), a_fact("nurse", "job")),
            (a_claim("Magnet", "uses", "denied"), a_fact("Magnet", "uses")),
        ],
    )
    def test_an_end_finds_what_it_means_in_other_words(self, claim: Claim, known: Fact) -> None:
        assert (known.subject, known.attribute) in needs([claim])
        (decision,) = reconcile([claim], [known], said_at=day(5))
        assert isinstance(decision, Ends)
        assert decision.known == (known.id,)

    def test_an_end_that_could_mean_two_things_ends_neither(self) -> None:
        known = [a_fact("Honda Civic", "owns"), a_fact("Honda Accord", "owns")]
        (decision,) = reconcile([a_claim("Honda", "owns", "ended")], known, said_at=day(5))
        assert isinstance(decision, New)

    def test_an_end_of_something_unknown_is_recorded_as_such(self) -> None:
        memory = Simulator()
        (decision,) = memory.tell(day(5), a_claim("Magnet", "uses", "ended", text="User no longer uses Magnet"))
        assert isinstance(decision, New)
        assert texts(memory, 6) == {"User no longer uses Magnet"}
        assert [fact.attribute for fact in memory.believed] == ["not uses"]

    def test_the_same_end_said_again_changes_nothing(self) -> None:
        memory = Simulator()
        for at in (5, 7):
            memory.tell(day(at), a_claim("Magnet", "uses", "ended"))
        assert len(memory.versions) == 1
        memory = Simulator()
        memory.tell(day(1), a_claim("Magnet", "uses"))
        for at in (5, 7):
            memory.tell(day(at), a_claim("Magnet", "uses", "ended"))
        assert timeline(memory.believed, "uses") == [("Magnet", None, day(5))]

    def test_a_restart_is_a_second_time(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Magnet", "uses"))
        memory.tell(day(5), a_claim("Magnet", "uses", "ended"))
        (decision,) = memory.tell(day(9), a_claim("Magnet", "uses"))
        assert isinstance(decision, New)
        assert decision.reason == "again: it had ended on 6 January 2026"
        assert timeline(memory.believed, "uses") == [("Magnet", None, day(5)), ("Magnet", day(9), None)]

    def test_a_start_closes_the_denial(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("kids", "child", "denied", text="User does not have kids"))
        memory.tell(day(9), a_claim("Mia", "child", text="User has a daughter named Mia"))
        assert texts(memory, 5) == {"User does not have kids"}
        assert texts(memory, 10) == {"User has a daughter named Mia"}

    def test_the_job_goes_with_the_employer(self) -> None:
        known = [a_fact("Google", "employer"), a_fact("engineer", "job")]
        decisions = reconcile([a_claim("", "employer", "ended")], known, said_at=day(5))
        assert [decision.known for decision in decisions if isinstance(decision, Ends)] == [("google",), ("engineer",)]

    def test_the_job_stays_when_there_is_a_new_employer(self) -> None:
        known = [a_fact("Google", "employer"), a_fact("engineer", "job")]
        claims = [a_claim("Google", "employer", "ended"), a_claim("Meta", "employer")]
        decisions = reconcile(claims, known, said_at=day(5))
        assert [type(decision) for decision in decisions] == [Ends, New]

    def test_a_divorce_ends_the_partner_and_a_new_one_is_no_contradiction(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Anna", "partner"), a_claim("married", "marital_status"))
        memory.tell(day(5), a_claim("divorced", "marital_status"))
        assert texts(memory, 6) == {"User marital_status divorced"}
        memory.tell(day(9), a_claim("Marco", "partner"))
        assert texts(memory, 10) == {"User marital_status divorced", "User partner Marco"}

    def test_what_has_happened_cannot_end(self) -> None:
        (decision,) = reconcile([a_claim("Rome", "visited", "ended")], [a_fact("Rome", "visited")], said_at=day(5))
        assert isinstance(decision, Ignored)


class TestCorrections:
    def test_a_correction_takes_the_place_of_the_mistake_also_in_the_past(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Lyon"))
        (decision,) = memory.tell(day(2), a_claim("Nantes", standing="corrects"))
        assert isinstance(decision, Replaces)
        assert decision.mistaken
        assert timeline(memory.believed, "home") == [("Nantes", None, None)]

    def test_the_mistake_is_still_in_what_was_known_then(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Lyon"))
        then = memory.now()
        memory.tell(day(2), a_claim("Nantes", standing="corrects"))
        assert [fact.value for fact in memory.as_of(then)] == ["Lyon"]

    def test_of_many_values_the_last_one_said_is_corrected(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("French", "speaks"))
        memory.tell(day(2), a_claim("Duch", "speaks"))
        memory.tell(day(3), a_claim("Dutch", "speaks", "corrects"))
        assert {fact.value for fact in memory.believed} == {"French", "Dutch"}

    def test_a_correction_within_one_message_leaves_only_the_right_value(self) -> None:
        memory = Simulator()
        decisions = memory.tell(day(1), a_claim("Lyon"), a_claim("Nantes", standing="corrects"))
        assert [type(decision) for decision in decisions] == [Ignored, New]
        assert [fact.value for fact in memory.versions] == ["Nantes"]

    def test_a_value_with_what_it_is_not_leaves_no_denial_behind(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Oslo"))
        memory.tell(day(5), a_claim("Bergen", standing="corrects"), a_claim("Oslo", standing="denied"))
        assert [(fact.attribute, fact.value) for fact in memory.valid_at(day(6))] == [("home", "Bergen")]

    def test_a_plan_that_is_called_off_is_no_longer_believed_and_another_end_leaves_what_comes_alone(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("move to Austin", attribute="plans", valid_from=day(30), valid_to=day(60)))
        memory.tell(day(1), a_claim("Google", attribute="employer", valid_from=day(30)))
        memory.tell(day(5), a_claim("move to Austin", attribute="plans", standing="ended"))
        memory.tell(day(5), a_claim("Google", attribute="employer", standing="denied"))
        assert [fact.value for fact in memory.valid_at(day(40))] == ["Google"]

    def test_another_number_of_the_same_takes_the_place_of_the_first(self) -> None:
        memory = Simulator()
        for at, value in ((1, "two cats"), (2, "Miso"), (3, "dog"), (5, "three cats"), (6, "two dogs")):
            memory.tell(day(at), a_claim(value, attribute="pet"))
        assert {fact.value for fact in memory.valid_at(day(7))} == {"three cats", "Miso", "two dogs"}
        assert {fact.value for fact in memory.valid_at(day(4))} == {"two cats", "Miso", "dog"}
        memory.tell(day(8), a_claim("cat", attribute="pet"))
        assert "three cats" in {fact.value for fact in memory.valid_at(day(9))}

    def test_an_end_that_is_unsure_ends_what_it_meets_and_is_nothing_by_itself(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Miso", attribute="pet"))
        memory.tell(day(5), a_claim("Miso", attribute="pet", standing="ended", confidence=0.4))
        memory.tell(day(5), a_claim("Prince", attribute="pet", standing="ended", confidence=0.4))
        assert memory.valid_at(day(6)) == []
        assert [fact.value for fact in memory.valid_at(day(4))] == ["Miso"]

    def test_a_correction_of_nothing_is_a_statement(self) -> None:
        (decision,) = reconcile([a_claim("Nantes", standing="corrects")], [], said_at=day(2))
        assert isinstance(decision, New)


class TestConfidence:
    def test_saying_it_again_makes_it_surer_but_never_certain(self) -> None:
        memory = Simulator()
        for at in range(1, 6):
            memory.tell(day(at), a_claim("Berlin", confidence=0.6))
        (fact,) = memory.believed
        assert 0.6 < fact.confidence <= 0.99
        assert len(fact.sources) == 5

    def test_an_unsure_claim_gives_way_to_a_sure_fact_of_the_same_moment(self) -> None:
        known = a_fact("Berlin", confidence=0.95, said_at=day(5))
        (decision,) = reconcile([a_claim("Paris", confidence=0.4)], [known], said_at=day(5))
        assert isinstance(decision, Ignored)

    def test_an_unsure_claim_still_replaces_what_was_said_before_it(self) -> None:
        known = a_fact("Berlin", confidence=0.95, said_at=day(1))
        (decision,) = reconcile([a_claim("Paris", confidence=0.4)], [known], said_at=day(5))
        assert isinstance(decision, Replaces)


class TestOneMessage:
    def test_a_thing_said_twice_is_one_fact(self) -> None:
        decisions = reconcile([a_claim("Shram", "uses"), a_claim("shram", "uses")], [], said_at=day(1))
        assert [type(decision) for decision in decisions] == [New, Ignored]

    def test_a_later_claim_sees_what_an_earlier_one_decided(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Berlin"), a_claim("Paris", valid_from=day(30)))
        assert timeline(memory.believed, "home") == [("Berlin", None, day(30)), ("Paris", day(30), None)]

    def test_what_takes_the_place_of_something_began_when_that_ended(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Trello", "uses"))
        memory.tell(day(9), a_claim("Trello", "uses", "ended", valid_to=day(5)), a_claim("Asana", "uses"))
        assert timeline(memory.believed, "uses") == [("Trello", None, day(5)), ("Asana", day(5), None)]

    def test_a_move_from_here_to_there_is_one_end_and_one_start(self) -> None:
        memory = Simulator()
        memory.tell(day(1), a_claim("Madrid"))
        memory.tell(day(9), a_claim("Madrid", standing="ended", valid_to=day(5)), a_claim("Porto", valid_from=day(5)))
        assert timeline(memory.believed, "home") == [("Madrid", None, day(5)), ("Porto", day(5), None)]


def test_a_claim_needs_the_facts_that_could_contradict_it() -> None:
    assert needs([a_claim("coffee", "likes")]) == [("user", "dislikes"), ("user", "likes"), ("user", "not likes")]
    assert ("user", "job") in needs([a_claim("", "employer", "ended")])
    assert ("user", "partner") in needs([a_claim("single", "marital_status")])
