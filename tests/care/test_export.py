"""What an export holds, and the ways to take it out of hand."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import AsyncMemory, Export, InvalidInput, Memory
from commonplace.care import export as exports
from tests.backends import Backend

TOOLS = "I use Shram and Magnet as productivity tools"

pytestmark = pytest.mark.backends("ledgers")


def lines(export: Export) -> list[dict[str, object]]:
    return [json.loads(line) for line in export]


def of(export: Export, kind: str) -> list[dict[str, object]]:
    return [line for line in lines(export) if line["type"] == kind]


@pytest.fixture
def memory(backend: Backend, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(**backend.at(tmp_path / "memory"), embedder=_letters) as memory:
        memory.add(
            {"role": "user", "content": TOOLS, "id": "m1", "at": "2024-05-01T10:00:00+02:00", "metadata": {"a": 1}},
            user="u1",
            session="s1",
        )
        memory.add({"content": "I don't use Magnet anymore", "id": "m2"}, user="u1", session="s1")
        memory.set_block("profile", "Ana, <b>engineer</b>", user="u1")
        memory.session("s1", user="u1").update({"step": 1})
        memory.add("The secret of another", user="u2")
        yield memory


def _letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.count(letter) for letter in "aeiou"] for text in texts]


def test_an_export_has_everything_about_a_user_and_nothing_of_another(memory: Memory) -> None:
    export = memory.export(user="u1")
    types = [line["type"] for line in lines(export)]
    assert types[:3] == ["commonplace", "tenant", "user"]
    assert types[-1] == "end"
    (first, second) = of(export, "message")
    assert (first["id"], first["text"], first["at"], first["session"]) == (
        "m1",
        TOOLS,
        "2024-05-01T08:00:00+00:00",
        "s1",
    )
    assert first["metadata"] == {"a": 1}
    assert {fact["value"] for fact in of(export, "fact")} == {"Shram", "Magnet"}
    assert {source["message"] for source in of(export, "source")} == {"m1", "m2"}
    assert of(export, "change")
    assert [block["text"] for block in of(export, "block")] == ["Ana, <b>engineer</b>"]
    assert [session["state"] for session in of(export, "session")] == [{"step": 1}]
    assert "secret" not in str(export)
    assert second["id"] == "m2"
    assert export.counts["messages"] == 2


def test_receipts_are_part_of_it_and_what_they_are_about_is_not(memory: Memory) -> None:
    receipt = memory.forget(user="u1", message="m2")
    export = memory.export(user="u1")
    (erasure,) = of(export, "erasure")
    assert erasure["id"] == receipt.id
    assert "anymore" not in str(export)


def test_an_export_does_not_change_when_the_memory_does(memory: Memory) -> None:
    export = memory.export(user="u1")
    before = str(export)
    memory.forget(user="u1")
    assert str(export) == before
    assert len(export) == before.count("\n")
    assert "u1" in repr(export)


def test_a_user_who_holds_nothing_has_an_export_too(memory: Memory) -> None:
    assert [line["type"] for line in lines(memory.export(user="nobody"))] == ["commonplace", "tenant", "user", "end"]


def test_vectors_are_in_it_on_request(memory: Memory) -> None:
    assert "passages" not in of(memory.export(user="u1"), "message")[0]
    export = memory.export(user="u1", vectors=True)
    assert of(export, "message")[0]["passages"][0]["vector"]  # type: ignore[index]
    assert all(fact["passage"]["vector"] for fact in of(export, "fact"))  # type: ignore[index]
    assert lines(export)[0]["embedder"]


def test_an_export_is_written_to_a_path_or_an_open_file(memory: Memory, tmp_path: Path) -> None:
    export, path = memory.export(user="u1"), tmp_path / "u1.jsonl"
    export.write(path)
    assert path.read_text() == str(export)
    assert path.stat().st_mode & 0o777 == 0o600
    text, data = io.StringIO(), io.BytesIO()
    export.write(text)
    export.write(data)
    assert text.getvalue() == data.getvalue().decode() == str(export)


def test_an_export_goes_straight_to_a_file(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "u1.jsonl"
    seen: list[int] = []
    export = memory.export(user="u1", to=path, progress=lambda what, done, total: seen.append(done))
    assert path.read_text() == str(export) == str(memory.export(user="u1"))
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["u1.jsonl"]
    assert seen


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(memory: Memory, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "not" / "there.jsonl"):
        with pytest.raises(InvalidInput, match="cannot be written"):
            memory.export(user="u1", to=path)
        with pytest.raises(InvalidInput, match="cannot be written"):
            memory.export(user="u1").write(path)


def test_a_large_export_is_read_in_pieces(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "IN_MEMORY", 100)
    memory.add([f"note {n}" for n in range(700)], user="u1", learn=False)
    export = memory.export(user="u1")
    assert len(of(export, "message")) == 702
    both = zip(export, export, strict=True)
    assert all(one == other for one, other in both)


async def test_the_same_goes_for_the_async_memory() -> None:
    async with AsyncMemory.ephemeral(embedder=_letters) as memory:
        await memory.add(TOOLS, user="u1")
        export = await memory.export(user="u1")
        assert TOOLS in str(export)


def test_a_wrong_user_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="user"):
        memory.export(user="")
