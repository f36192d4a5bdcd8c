"""Files of other programs, as small as they can be: dates and ids are kept, and what is wrong is named."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import InvalidInput, Memory
from commonplace.care.importers import formats
from commonplace.care.importers.formats import READERS, detect
from commonplace.care.importers.source import Source
from commonplace.domain.archive import KeptMessage
from commonplace.domain.imports import Bad, Item, Taken
from tests.care.importers.test_messages import READING
from tests.contracts.ledger.values import json_values


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.count(letter) for letter in "aeiou"] for text in texts]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.ephemeral(embedder=letters) as memory:
        yield memory


def node(id_: str, parent: str | None, role: str, *parts: Any, at: float | None = 1_714_550_400.5) -> dict[str, Any]:
    message = {
        "id": id_,
        "author": {"role": role, "name": None},
        "create_time": at,
        "content": {"content_type": "text", "parts": list(parts)},
    }
    return {"id": id_, "parent": parent, "children": [], "message": message}


CHATGPT: list[dict[str, Any]] = [
    {
        "title": "Tools",
        "conversation_id": "c1",
        "create_time": 1_714_550_400.0,
        "current_node": "d",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
            "a": node("a", "root", "system", ""),
            "b": node("b", "a", "user", "I use Shram and Magnet as productivity tools"),
            "old": node("old", "b", "assistant", "An answer that was made again"),
            "c": node("c", "b", "assistant", "Good choice.", {"asset_pointer": "file://picture"}),
            "d": node("d", "c", "user", "日本語でも", at=None),
        },
    }
]
CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": "c2",
        "name": "Home",
        "created_at": "2024-05-01T10:00:00.123456Z",
        "chat_messages": [
            {"uuid": "h1", "sender": "human", "text": "I live in Oslo", "created_at": "2024-05-01T10:00:01Z"},
            {
                "uuid": "h2",
                "sender": "assistant",
                "text": "",
                "content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Nice."}],
                "created_at": "2024-05-01T10:00:02Z",
            },
        ],
    }
]
MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "f1",
            "memory": "Lives in Bergen",
            "user_id": "ana",
            "metadata": {"topic": "home"},
            "created_at": "2024-05-01T10:00:00-07:00",
            "updated_at": "2024-06-01T10:00:00-07:00",
        },
        {"id": "f2", "memory": "Likes tea", "user_id": "ben", "created_at": "2024-05-02T10:00:00+00:00"},
    ],
    "history": [
        {
            "id": "e1",
            "memory_id": "f1",
            "old_memory": None,
            "new_memory": "Lives in Oslo",
            "event": "ADD",
            "created_at": "2024-05-01T10:00:00-07:00",
        },
        {
            "id": "e2",
            "memory_id": "f1",
            "old_memory": "Lives in Oslo",
            "new_memory": "Lives in Bergen",
            "event": "UPDATE",
            "created_at": "2024-05-01T10:00:00-07:00",
            "updated_at": "2024-06-01T10:00:00-07:00",
        },
    ],
}
LETTA: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-1",
            "name": "helper",
            "messages": [
                {
                    "id": "message-1",
                    "role": "user",
                    "content": [{"type": "text", "text": "I live in Oslo"}],
                    "created_at": "2025-02-01T09:00:00Z",
                },
                {"id": "message-2", "role": "assistant", "content": "Noted.", "created_at": "2025-02-01T09:00:05Z"},
            ],
        }
    ],
    "blocks": [{"id": "block-1", "label": "human", "value": "The user is Ana."}],
}
OLD_LETTA: dict[str, Any] = {
    "agent_type": "memgpt_agent",
    "name": "old",
    "core_memory": [{"label": "persona", "value": "A helper.", "updated_at": "2025-01-01T00:00:00"}],
    "messages": [{"role": "user", "content": "I live in Oslo", "created_at": "2025-02-01T09:00:00"}],
}
ZEP: dict[str, Any] = {
    "episodes": [
        {
            "uuid": "ep1",
            "content": "I moved from Oslo to Bergen",
            "role": "Ana",
            "role_type": "user",
            "valid_at": "2024-05-01T10:00:00Z",
            "created_at": "2024-05-01T10:00:03Z",
        }
    ],
    "edges": [
        {
            "uuid": "ed1",
            "name": "LIVES_IN",
            "fact": "Ana lives in Oslo",
            "episodes": ["ep1", "gone"],
            "valid_at": "2020-01-01T00:00:00Z",
            "invalid_at": "2024-05-01T10:00:00Z",
            "created_at": "2024-05-01T10:00:03Z",
        }
    ],
}
LANGGRAPH: list[dict[str, Any]] = [
    {
        "namespace": ["memories", "ana"],
        "key": "k1",
        "value": {"content": "Likes tea", "stars": 4},
        "created_at": "2024-05-01T10:00:00+00:00",
        "updated_at": "2024-05-02T10:00:00+00:00",
    },
    {"namespace": ["memories", "ana"], "key": "k2", "value": {"a": {"b": 1}}},
]
FILES: dict[str, Any] = {
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "mem0": MEM0,
    "letta": LETTA,
    "zep": ZEP,
    "langgraph": LANGGRAPH,
}


def opened(value: Any) -> Source:
    return Source(io.BytesIO(value if isinstance(value, bytes) else json.dumps(value).encode()))


def read(form: str, value: Any) -> list[Item]:
    return list(READERS[formats.parse_format(form)](opened(value), READING))


@pytest.mark.parametrize("form", FILES)
def test_a_form_is_told_by_its_keys(form: str) -> None:
    assert detect(opened(FILES[form])) == form
    assert detect(opened(json.dumps(FILES[form], indent=2).encode())) == form


def test_what_cannot_be_told_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="cannot tell what form"):
        detect(opened([{"colour": "blue"}]))


@pytest.mark.parametrize("form", FILES)
def test_importing_twice_is_importing_once(memory: Memory, form: str) -> None:
    first = memory.import_from(io.BytesIO(json.dumps(FILES[form]).encode()), user="ana")
    again = memory.import_from(io.BytesIO(json.dumps(FILES[form]).encode()), user="ana")
    assert (first.format, first.bad, first.loose) == (form, (), {})
    assert (again.added, again.changes) == ({}, 0)
    assert first.added


def test_chatgpt_gives_the_branch_that_was_shown_last(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations.json", json.dumps(CHATGPT))
    imported = memory.import_from(path, user="ana")
    said = list(memory.messages(user="ana", session="c1"))
    assert [(one.id, one.role) for one in said] == [("b", "user"), ("c", "assistant"), ("d", "user")]
    assert said[0].at.isoformat() == "2024-05-01T08:00:00.500000+00:00"
    assert said[0].metadata == {"title": "Tools"}
    assert imported.changes == 2
    assert {fact.value for fact in memory.facts(user="ana")} == {"Shram", "Magnet"}


def test_a_tree_that_bites_its_tail_is_named_and_the_next_conversation_is_read() -> None:
    cycle = {"current_node": "a", "mapping": {"a": node("a", "b", "user", "x"), "b": node("b", "a", "user", "y")}}
    bad, *rest = [item for item in read("chatgpt", [cycle, *CHATGPT]) if isinstance(item, Bad) or "2" in item.place]
    assert bad == Bad("conversation 1", "node 'a' is its own ancestor")
    assert len(rest) == 3


def test_claude_gives_what_was_written_and_no_thoughts(memory: Memory) -> None:
    memory.import_from([json.dumps(CLAUDE)], user="ana", format="claude")
    said = list(memory.messages(user="ana", session="c2"))
    assert [(one.id, one.role, one.text) for one in said] == [
        ("h1", "user", "I live in Oslo"),
        ("h2", "assistant", "Nice."),
    ]
    assert said[0].at.isoformat() == "2024-05-01T10:00:01+00:00"


def test_mem0_keeps_users_dates_and_history(memory: Memory) -> None:
    memory.import_from([json.dumps(MEM0)])
    (fact,) = memory.facts(user="ana")
    assert (fact.id, fact.text, fact.metadata) == ("f1", "Lives in Bergen", {"topic": "home"})
    old, new = memory.history("f1", user="ana")
    assert (old.text, old.recorded_at.isoformat()) == ("Lives in Oslo", "2024-05-01T17:00:00+00:00")
    assert old.retracted_at == new.recorded_at
    assert [one.text for one in memory.facts(user="ana", as_of="2024-05-15T00:00:00Z")] == ["Lives in Oslo"]
    assert [one.text for one in memory.facts(user="ben")] == ["Likes tea"]


@pytest.mark.parametrize("file", [LETTA, OLD_LETTA])
def test_letta_gives_blocks_and_messages(memory: Memory, file: dict[str, Any]) -> None:
    memory.import_from([json.dumps(file)], user="ana")
    assert len(memory.blocks(user="ana")) == 1
    assert next(iter(memory.messages(user="ana"))).at.isoformat() == "2025-02-01T09:00:00+00:00"
    assert [fact.value for fact in memory.facts(user="ana")] == ["Oslo"]


def test_zep_gives_facts_with_their_time_and_their_source(memory: Memory) -> None:
    memory.import_from([json.dumps(ZEP)], user="ana")
    assert not list(memory.facts(user="ana"))
    (fact,) = memory.facts(user="ana", valid_at="2022-01-01T00:00:00Z")
    assert (fact.id, fact.text, fact.sources) == ("ed1", "Ana lives in Oslo", ("ep1",))
    assert fact.valid_to is not None
    assert fact.metadata == {"relation": "LIVES_IN"}
    assert [one.name for one in memory.messages(user="ana")] == ["Ana"]


def test_langgraph_gives_a_fact_for_each_item_from_a_list_or_lines(memory: Memory) -> None:
    memory.import_from([json.dumps(item) for item in LANGGRAPH], user="ana")
    again = memory.import_from(io.BytesIO(json.dumps(LANGGRAPH).encode()), user="ana")
    assert again.added == {}
    facts = {fact.text: fact for fact in memory.facts(user="ana")}
    assert facts["Likes tea"].metadata == {"namespace": "memories/ana", "key": "k1", "stars": 4}
    assert '{"a": {"b": 1}}' in facts


@pytest.mark.parametrize("form", FILES)
def test_old_words_that_were_forgotten_stay_out(memory: Memory, form: str) -> None:
    memory.import_from([json.dumps(FILES[form])], user="ana", format=form)
    memory.forget(user="ana")
    assert memory.import_from([json.dumps(FILES[form])], user="ana", format=form).forgotten
    assert not list(memory.messages(user="ana"))
    assert "Oslo" not in str(memory.export(user="ana"))


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize(
    "text", [b"", b"{", b"[", b"[1", b"\xff\xfe", b"[" * 100_000, b'[{"a": 1}', b"[1, 2] x", b"{}"]
)
def test_a_broken_file_is_reported(memory: Memory, form: str, text: bytes) -> None:
    imported = memory.import_from(io.BytesIO(text), user="ana", format=form)
    assert imported.added == {}
    assert imported.bad or form == "langgraph" or text == b"{}"


def test_a_zip_without_conversations_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InvalidInput, match="has no conversations.json"):
        memory.import_from(path)
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InvalidInput, match="cannot be read"):
        memory.import_from(path)


def test_a_large_list_is_read_one_element_at_a_time() -> None:
    value = [{"n": n, "text": "ä" * 300} for n in range(2_000)]
    source = opened(json.dumps(value, ensure_ascii=False).encode())
    values = source.values()
    assert next(values) == value[0]
    assert source.done < 400_000
    assert list(values) == value[1:]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.lists(json_values, max_size=3) | json_values)
def test_whatever_a_file_says_it_is_read_or_reported(form: str, value: Any) -> None:
    try:
        items = read(form, value)
    except InvalidInput:
        return
    assert all(isinstance(item, Bad | Taken) for item in items)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.data())
def test_a_file_with_one_wrong_value_is_read_or_reported(form: str, data: st.DataObject) -> None:
    broken = json.loads(json.dumps(FILES[form]))
    place: Any = broken
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(json_values)
            break
        place = place[key]
    try:
        items = read(form, broken)
    except InvalidInput:
        return
    assert all(isinstance(item, Bad | Taken) for item in items)


def zipped(**files: Any) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in files.items():
            archive.writestr(f"export/{name.replace('_', '-')}.json", json.dumps(value))
    file.seek(0)
    return file


def chatgpt(id_: str, **message: Any) -> dict[str, Any]:
    said = {"id": f"m-{id_}", "author": {"role": "user"}, "create_time": 1714557600.5, **message}
    return {"conversation_id": id_, "current_node": "n", "mapping": {"n": {"id": "n", "parent": None, "message": said}}}


def said(items: list[Item]) -> list[str]:
    return [one.record.message.text for one in items if isinstance(one, Taken) and isinstance(one.record, KeptMessage)]


def test_a_large_export_of_chatgpt_comes_in_numbered_files() -> None:
    first, second = (chatgpt(id_, content={"parts": [f"I use {id_}"]}) for id_ in ("chess", "kayak"))
    source = Source(zipped(user={}, conversations_001=[second], conversations_000=[first]))
    assert detect(source) == "chatgpt"
    assert said(list(READERS["chatgpt"](source, READING))) == ["I use chess", "I use kayak"]
    assert source.size == source.done


def test_what_was_spoken_to_chatgpt_is_kept_and_what_it_told_its_tools_is_not() -> None:
    spoken = {"content_type": "audio_transcription", "direction": "in", "text": "I use a kayak"}
    parts = [spoken, {"content_type": "real_time_user_audio_video_asset_pointer"}]
    heard = chatgpt("c1", content={"content_type": "multimodal_text", "parts": parts})
    called = chatgpt("c2", recipient="bio", author={"role": "assistant"}, content={"parts": ["User has a kayak."]})
    assert said(read("chatgpt", [heard, called])) == ["I use a kayak"]


def letta(*messages: dict[str, Any], name: str = "helper") -> dict[str, Any]:
    numbered = [{"id": f"message-{number}", **message} for number, message in enumerate(messages)]
    return {"agents": [{"id": "agent-0", "name": name, "messages": numbered}], "blocks": []}


def test_two_agent_files_of_letta_count_their_messages_alike(memory: Memory) -> None:
    for name, thing in (("one", "chess"), ("two", "kayak")):
        file = letta({"role": "user", "content": f"I use {thing}"}, name=name)
        memory.import_from([json.dumps(file)], user="ana")
    assert {one.session: one.text for one in memory.messages(user="ana")} == {
        "one": "I use chess",
        "two": "I use kayak",
    }


def test_letta_packs_what_is_said_and_it_is_unpacked() -> None:
    def packed(**fields: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": json.dumps({**fields, "time": "2026-01-20 02:13:45 PM PST-0800"})}]

    send = {"name": "send_message", "arguments": json.dumps({"message": "Noted."})}
    file = letta(
        {"role": "user", "content": packed(type="login", last_login="Never")},
        {"role": "user", "content": packed(type="user_message", message="I live in Oslo")},
        {"role": "assistant", "content": "I should note that.", "tool_calls": [{"id": "t", "function": send}]},
        {"role": "tool", "content": packed(status="OK", message="None")},
        {"role": "user", "content": '{"type": "poem"}'},
    )
    items = read("letta", file)
    assert said(items) == ["I live in Oslo", "Noted.", '{"type": "poem"}']
    dates = {one.record.message.at for one in items if isinstance(one, Taken) and isinstance(one.record, KeptMessage)}
    assert dates == {datetime(2026, 1, 20, 22, 13, 45, tzinfo=UTC)}


def test_the_words_of_graphiti_are_whose_they_say() -> None:
    contents = {
        "assistant: Oslo is a fine city": "assistant",
        "Ada (assistant): So it is": "assistant",
        "Ana (user): I live in Oslo": "user",
        "Ana: I live in Oslo": "user",
    }
    episodes = [{"uuid": text, "content": text, "source": "message"} for text in contents]
    episodes += [{"uuid": "d", "content": "{}", "source": "json"}, {"uuid": "n", "content": "x", "role_type": "norole"}]
    items = read("zep", {"episodes": episodes})
    roles = [one.record.message.role for one in items if isinstance(one, Taken) and isinstance(one.record, KeptMessage)]
    assert roles == [*contents.values(), "tool", "tool"]


def test_rows_of_a_langgraph_store_have_a_prefix(memory: Memory) -> None:
    row = {"prefix": "memories.ana", "key": "k1", "value": {"text": "Likes tea"}, "created_at": "2024-05-01T10:00:00"}
    assert memory.import_from([json.dumps([row])], user="ana").format == "langgraph"
    (fact,) = memory.facts(user="ana")
    assert fact.metadata["namespace"] == "memories/ana"
