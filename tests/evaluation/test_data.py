import json
from pathlib import Path

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json
from commonplace.evaluation.data import Conversation, borrowed, joined, merged, read

LOCOMO: Json = [
    {
        "sample_id": "talk",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Hi!", "blip_caption": "a photo of a boat"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "What a boat."},
            ],
        },
        "qa": [
            {"question": "What did Ada show?", "evidence": ["D1:1; D1:02"], "category": 4},
            {"question": "No evidence is left of this.", "evidence": ["D9:9"], "category": 1},
        ],
    }
]
CHATS: Json = [
    {
        "chat": 7,
        "messages": [
            {"id": 1, "batch": 0, "role": "user", "content": "I build a boat.", "time_anchor": "March-15-2024"},
            {"id": 2, "batch": 0, "role": "assistant", "content": "What kind?"},
        ],
        "questions": [
            {"kind": "recall", "question": "What do I build?", "source_chat_ids": {"a": [1, [2]], "sure": True}},
            {"kind": "abstention", "question": "Who is my dentist?", "source_chat_ids": []},
        ],
    }
]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text(
        '{"id": 1, "content": "I moved to Porto.", "at": "2024-05-01", "name": "Ada"}\n'
        "\n"
        '{"id": 2, "session": "b", "role": "assistant", "content": "How nice!"}\n'
        '{"question": "Where does Ada live?", "evidence": [1], "category": "home"}\n'
        '{"question": "Who is her dentist?"}\n',
        encoding="utf-8",
    )
    return path


def written(path: Path, content: Json) -> Path:
    path.write_text(json.dumps(content))
    return path


def one(path: Path, form: str) -> Conversation:
    (conversation,) = read(path, form)
    return conversation


def test_people_talking_are_read_with_dates_captions_and_split_evidence(tmp_path: Path) -> None:
    talk = one(written(tmp_path / "a.json", LOCOMO), "locomo")
    assert [(turn.id, turn.name, turn.caption) for turn in talk.turns] == [
        ("D1:1", "Ada", "a photo of a boat"),
        ("D1:2", "Ben", None),
    ]
    assert talk.turns[0].at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert [question.gold for question in talk.questions] == [frozenset({"D1:1", "D1:2"})]


def test_chats_are_read_with_evidence_wherever_it_is_nested(tmp_path: Path) -> None:
    chat = one(written(tmp_path / "a.json", CHATS), "chats")
    assert [turn.role for turn in chat.turns] == ["user", "assistant"]
    assert [question.gold for question in chat.questions] == [frozenset({"1", "2"}), frozenset()]


def test_lines_of_ones_own_are_messages_and_questions(own: Path) -> None:
    mine = one(own, "jsonl")
    assert [(turn.id, turn.session, turn.role) for turn in mine.turns] == [("1", "s", "user"), ("2", "b", "assistant")]
    assert [(question.category, set(question.gold)) for question in mine.questions] == [("home", {"1"}), ("all", set())]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 1: "),
        ("[]", "expected an object"),
        ('{"id": 1}', "['content'] missing"),
        ('{"id": 1, "content": 5}', "content 5: expected a string"),
        ('{"id": 1, "content": "a", "role": "boss"}', "role 'boss': expected one of user"),
        ('{"id": 1, "content": "a", "at": "May"}', "line 1: "),
        ('{"id": 1, "content": "a", "text": "b"}', "unknown keys ['text']"),
        ('{"question": "a", "evidence": "1"}', "expected a list of ids"),
        ('{"question": "a", "evidence": ["1"]}', "evidence ['1']: expected the ids of messages in this file"),
    ],
)
def test_a_bad_line_is_refused_with_the_file_and_what_was_expected(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with pytest.raises(InvalidInput) as refused:
        read(path, "jsonl")
    assert str(path) in str(refused.value)
    assert complaint in str(refused.value)


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    path.write_text('{"id": 1, "content": "a"}\n{"id": "1", "content": "b"}\n')
    with pytest.raises(InvalidInput, match="the same id"):
        read(path, "jsonl")


@pytest.mark.parametrize(("content", "form"), [(CHATS, "locomo"), (LOCOMO, "chats"), ({}, "chats"), ([1], "locomo")])
def test_a_file_in_another_format_is_refused_with_the_format(tmp_path: Path, content: Json, form: str) -> None:
    with pytest.raises(InvalidInput, match=rf"is not in the format {form} \(perhaps \w+ or \w+\)"):
        read(written(tmp_path / "a.json", content), form)


def test_an_unknown_format_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected one of jsonl, locomo, chats"):
        read(tmp_path, "csv")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(tmp_path / "nowhere.jsonl", "jsonl")


def test_merged_conversations_keep_their_messages_and_evidence_apart(tmp_path: Path, own: Path) -> None:
    talk = one(written(tmp_path / "a.json", LOCOMO), "locomo")
    both = merged([talk, one(own, "jsonl")])
    assert [turn.id for turn in both.turns] == ["talk/D1:1", "talk/D1:2", "own/1", "own/2"]
    assert {turn.session for turn in both.turns} == {"talk/session_1", "own/s", "own/b"}
    assert [sorted(question.gold) for question in both.questions] == [["talk/D1:1", "talk/D1:2"], ["own/1"], []]


def test_other_messages_join_a_conversation_without_its_questions(own: Path) -> None:
    mine = one(own, "jsonl")
    assert len(joined(mine, [mine]).turns) == 4
    assert joined(mine, [mine]).questions == mine.questions


def test_borrowed_questions_are_about_the_people_who_are_asked(tmp_path: Path, own: Path) -> None:
    talk = one(written(tmp_path / "a.json", LOCOMO), "locomo")
    mine = one(own, "jsonl")
    assert borrowed(talk, mine) == ["What did Ada show?"]
    assert borrowed(mine, talk) == ["Where does Ada live?"]
