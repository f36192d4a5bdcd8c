from itertools import islice

from bench.talk import SESSION, messages


def test_the_same_talk_is_made_each_time_and_hardly_repeats_itself() -> None:
    some = list(messages(2_000))
    assert some == list(messages(2_000))
    assert len({line["content"] for line in some}) > 1_500


def test_a_session_is_of_two_people_or_of_a_user_with_an_assistant() -> None:
    talk = messages(400)
    while session := list(islice(talk, SESSION)):
        assert len({line["session"] for line in session}) == 1
        assert {line.get("role") for line in session} in ({None}, {"user", "assistant"})
        assert len({line.get("name") for line in session}) <= 2
