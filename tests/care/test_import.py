"""Import: what an export held is there again, and what was forgotten comes back only when that is asked for."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Export, Incompatible, InvalidInput, Memory, Recalled
from tests.backends import Backend
from tests.care.close import Close

THINGS = ("bike", "garden", "violin", "coffee", "chess", "kayak", "oven", "tent", "guitar", "camera")
PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Turin", "Cork", "Riga", "Lima", "Perth", "Graz")

pytestmark = pytest.mark.backends("ledgers")


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


@pytest.fixture
def memory(backend: Backend, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(**backend.at(tmp_path / "memory"), embedder=letters) as memory:
        yield memory


MOST, NAN = b"\xff\xff\x7f\x7f", b"\x00\x00\xc0\x7f"
"""The largest float32, and one that is no number."""


def live(memory: Memory, user: str = "u1") -> None:
    """Fill a life: conversations, facts that change, facts by hand, blocks."""
    for number, (thing, place) in enumerate(zip(THINGS, PLACES, strict=True)):
        said = [
            {"role": "user", "content": f"I use a {thing} every week", "at": f"2024-0{1 + number % 9}-03T08:00:00Z"},
            {"role": "assistant", "content": f"A {thing} is a fine thing to have in {place}.", "name": "Ada"},
            {"role": "user", "content": f"I live in {place} now", "at": f"2025-0{1 + number % 9}-05T09:30:00Z"},
        ]
        memory.add(said, user=user, session=f"s{number}", metadata={"number": number})
    memory.add("I don't use a tent anymore", user=user, session="s9")
    fact = memory.remember("Allergic to peanuts", user=user, importance=0.9, metadata={"by": "hand"})
    memory.revise(fact.id, "Allergic to peanuts and cashews", user=user, reason="asked")
    memory.set_block("profile", "Likes the sea", user=user)
    memory.add("x " * 3_000 + "the long story of the lighthouse", user=user, session="s0")


def questions() -> list[str]:
    asked = [f"Where was the {thing}?" for thing in THINGS] + [f"Who lives in {place}?" for place in PLACES]
    asked += [f"{thing} in {place}" for thing in THINGS for place in PLACES[:7]]
    return [
        *asked,
        "peanuts",
        "cashews",
        "tent",
        "lighthouse",
        "the sea",
        "Ada",
        "home",
        "week",
        "story",
        "what do I use?",
    ]


def answers(memory: Memory, user: str = "u1", *, every: int = 5) -> list[list[tuple[object, ...]]]:
    return [
        [_plain(found) for found in memory.recall(question, user=user, limit=5, min_relevance=0.0)]
        for question in questions()[::every]
    ]


def _plain(found: Recalled) -> tuple[object, ...]:
    return found.id, found.text, found.at, Close(found.relevance), found.valid_from, found.valid_to, found.sources


def history(memory: Memory) -> list[Any]:
    return [memory.history(fact.id, user="u1") for fact in memory.facts(user="u1", valid_at="2024-06-01T00:00:00Z")]


@pytest.mark.parametrize("vectors", [True, False])
def test_export_forget_import_gives_the_same_answers_to_100_recalls(memory: Memory, vectors: bool) -> None:
    live(memory)
    assert len(questions()) == 100
    before, past, blocks = answers(memory, every=1), history(memory), memory.blocks(user="u1")
    assert sum(map(bool, before)) > 90
    export = memory.export(user="u1", vectors=vectors)
    memory.forget(user="u1")
    assert not any(answers(memory))
    imported = memory.import_from(export, bring_back=True)
    assert (imported.format, imported.bad, imported.loose, imported.forgotten) == ("commonplace", (), {}, {})
    assert answers(memory, every=1) == before
    assert history(memory) == past
    assert memory.blocks(user="u1") == blocks
    assert memory.doctor().findings == ()


def reasons(memory: Memory) -> list[tuple[object, ...]]:
    """Return the numbers that make the order, but for recency, which goes on with the clock."""
    found = [one for question in questions()[:20] for one in memory.recall(question, user="u1", explain=True)]
    return [(one.id, one.why.relevance, one.why.importance, one.why.parts) for one in found if one.why is not None]


def test_scores_are_the_same_to_the_bit(memory: Memory) -> None:
    live(memory)
    before = reasons(memory)
    export = memory.export(user="u1", vectors=True)
    memory.forget(user="u1")
    memory.import_from(export, bring_back=True)
    assert before
    assert reasons(memory) == before


def test_what_was_forgotten_does_not_come_back_by_itself(memory: Memory) -> None:
    live(memory)
    export = memory.export(user="u1")
    memory.forget(user="u1")
    imported = memory.import_from(export)
    assert imported.forgotten["messages"] == export.counts["messages"]
    assert imported.added == {}
    assert not any(answers(memory))
    assert memory.profile(user="u1").messages == 0


def test_only_what_was_forgotten_stays_out(memory: Memory) -> None:
    memory.add({"content": "I use Shram", "id": "m1"}, user="u1", session="s1")
    memory.add({"content": "I live in Oslo", "id": "m2"}, user="u1", session="s2")
    export = memory.export(user="u1")
    memory.forget(user="u1", session="s2")
    imported = memory.import_from(export)
    assert imported.forgotten["messages"] == 1
    assert [message.id for message in memory.messages(user="u1")] == ["m1"]
    assert "Oslo" not in str(memory.export(user="u1"))
    memory.import_from(export, bring_back=True)
    assert {message.id for message in memory.messages(user="u1")} == {"m1", "m2"}


def test_one_forgotten_message_or_fact_stays_out(memory: Memory) -> None:
    memory.add({"content": "I use Shram", "id": "m1"}, user="u1")
    fact = memory.remember("Allergic to peanuts", user="u1")
    export = memory.export(user="u1")
    memory.forget(user="u1", message="m1")
    memory.forget(user="u1", fact=fact.id)
    imported = memory.import_from(export)
    assert imported.forgotten["messages"] == 1
    assert not list(memory.facts(user="u1"))
    assert not list(memory.messages(user="u1"))


def test_what_came_after_the_forget_is_imported(memory: Memory) -> None:
    memory.add("before", user="u1")
    memory.forget(user="u1")
    memory.add({"content": "after", "id": "m2"}, user="u1")
    export = memory.export(user="u1")
    with Memory.ephemeral(embedder=letters) as other:
        assert other.import_from(export).forgotten == {}
        assert [message.id for message in other.messages(user="u1")] == ["m2"]
        assert [receipt.id for receipt in other.receipts(user="u1")] == [one.id for one in memory.receipts(user="u1")]


def test_importing_twice_is_importing_once_here_or_elsewhere(memory: Memory, backend: Backend, tmp_path: Path) -> None:
    live(memory)
    export = memory.export(user="u1", vectors=True)
    path = tmp_path / "u1.jsonl"
    export.write(path)
    with Memory.open(**backend.at(tmp_path / "other"), tenant="elsewhere", embedder=letters) as other:
        first = other.import_from(path)
        again = other.import_from(str(path))
        assert (again.added, again.known) == ({}, first.added)
        assert [str(line) for line in _body(other.export(user="u1"))] == _body(memory.export(user="u1"))
        assert answers(other) == answers(memory)


def _body(export: Export) -> list[str]:
    """Leave out the marks at the beginning: the ledger's name, and the tenant."""
    return list(export)[2:]


def test_another_user_may_have_it(memory: Memory) -> None:
    live(memory)
    export = memory.export(user="u1")
    memory.import_from(export, user="u2")
    memory.import_from(export, anonymous=True)
    assert answers(memory, "u2") == answers(memory, "u1")
    assert memory.profile().messages == memory.profile(user="u1").messages
    with pytest.raises(InvalidInput, match="expected one of them"):
        memory.import_from(export, user="u2", anonymous=True)


def test_vectors_of_another_model_are_made_anew(memory: Memory) -> None:
    memory.add("the violin in the attic", user="u1")
    export = memory.export(user="u1", vectors=True)

    def other_model(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    with Memory.ephemeral(embedder=other_model) as other:
        other.import_from(export)
        assert [found.text for found in other.recall("violin", user="u1")] == ["the violin in the attic"]
        assert other.stats().counts["rows_without_vector"] == 0


@pytest.mark.parametrize("vector", [b"", b"abc", b"\0" * 104, MOST * 26, NAN * 26])
def test_a_vector_that_cannot_be_right_is_made_anew(memory: Memory, vector: bytes) -> None:
    memory.add("the violin in the attic", user="u1", learn=False)
    lines = []
    for line in memory.export(user="u1", vectors=True):
        body = json.loads(line)
        for passage in body.get("passages", []):
            passage |= {"vector": b64encode(vector).decode(), "terms": "////", "tokens": "AA=="}
        lines.append(json.dumps(body))
    imported = memory.import_from(lines, user="u2")
    assert imported.bad == ()
    assert [found.text for found in memory.recall("violin", user="u2")] == ["the violin in the attic"]


def test_a_bad_line_is_reported_with_its_number_and_the_rest_goes_on(memory: Memory) -> None:
    memory.add([{"content": "one", "id": "m1"}, {"content": "two", "id": "m2"}], user="u1")
    lines = list(memory.export(user="u1"))
    broken = [*lines[:4], "{", '{"type": "letter"}', *lines[4:]]
    imported = memory.import_from(broken, user="u2")
    assert [bad.place for bad in imported.bad] == ["line 5", "line 6"]
    assert imported.added["messages"] == 2
    with pytest.raises(InvalidInput, match="line 5: not JSON"):
        memory.import_from(broken, user="u3", strict=True)


def test_a_file_that_was_cut_short_says_so(memory: Memory) -> None:
    memory.add("one", user="u1")
    imported = memory.import_from(list(memory.export(user="u1"))[:-1], user="u2")
    assert [bad.error for bad in imported.bad] == ["the file has no end: it was cut short, and there may be more"]


def test_a_dry_run_counts_and_changes_nothing(memory: Memory) -> None:
    live(memory)
    export = memory.export(user="u1")
    planned = memory.import_from(export, user="u2", dry_run=True)
    assert planned.dry_run
    assert planned.added["messages"] == export.counts["messages"]
    assert memory.profile(user="u2").messages == 0
    known = memory.import_from(export, dry_run=True)
    assert known.known["messages"] == export.counts["messages"]


def test_a_newer_form_is_refused(memory: Memory) -> None:
    with pytest.raises(Incompatible, match="format 99"):
        memory.import_from(['{"type":"commonplace","format":99,"ledger":"x","embedder":null}'])


@pytest.mark.parametrize(("given", "message"), [("/not/there", "cannot be read"), ("", "cannot be read")])
def test_a_file_that_is_not_there_is_named(memory: Memory, given: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        memory.import_from(given)


def test_an_unknown_form_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="format='papyrus': expected one of auto, commonplace"):
        memory.import_from([], format="papyrus")


def test_work_that_waits_is_taken_over_once(memory: Memory) -> None:
    memory.add({"content": "I use Shram", "id": "m1"}, user="u1", learn=False)
    line = {"type": "job", "id": "j1", "kind": "learn", "payload": {"messages": ["m1"]}, "attempts": 0}
    line |= {"run_at": "2030-01-01T00:00:00Z", "status": "queued", "error": ""}
    *lines, end = memory.export(user="u1")
    with Memory.ephemeral(embedder=letters) as other:
        assert other.import_from([*lines, json.dumps(line), end]).added["jobs"] == 1
        assert "jobs" not in other.import_from([*lines, json.dumps(line), end]).added


def test_keys_of_a_tenant_are_not_a_users(memory: Memory) -> None:
    memory.add("one", user="u1")
    *lines, end = memory.export(user="u1")
    key = {"type": "api_key", "id": "k", "tenant": "default", "user": None, "role": "admin", "label": "", "salt": ""}
    key |= {"digest": "", "created_at": "2026-01-01T00:00:00Z"}
    imported = memory.import_from([*lines, json.dumps(key), end], user="u2")
    assert "api_keys" not in imported.added
    assert "are left out" in imported.notes[0]
