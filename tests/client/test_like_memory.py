"""One suite of behaviour, on a memory here and on the client of a service: code that moves must not notice."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace import Conflict, InvalidInput, Memory, NotFound, Unavailable
from commonplace.client import Client, NotAllowed, NotOverHTTP
from commonplace.domain.claims import Proposal
from commonplace.domain.errors import OnHold
from tests.interfaces.http.conftest import embed
from tests.interfaces.http.live import Live, live

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("service"), api_limit_costly="9999/minute") as running:
        yield running


@pytest.fixture(params=["memory", "client"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with ExitStack() as stack:
        if request.param == "memory":
            yield stack.enter_context(Memory.open(tmp_path, embedder=embed))
        else:
            running: Live = request.getfixturevalue("service")
            yield stack.enter_context(Client(running.url, key=running.key(tenant=tmp_path.name)))


def texts(found: object) -> list[str]:
    assert isinstance(found, list)
    return [one.text for one in found]


def test_the_story(memory: Memory) -> None:
    before = NOW - timedelta(days=2)
    added = memory.add("I use Shram and Magnet as productivity tools", user="u1", session="s1", at=before)
    assert len(added.messages) == 1
    assert len(added.changes) == 2
    facts = {"fact", "preference"}
    held = " ".join(texts(memory.recall("What productivity tools do I use?", user="u1", kinds=facts)))
    assert "Shram" in held
    assert "Magnet" in held
    memory.add("I don't use Magnet anymore", user="u1", session="s2")
    now = " ".join(texts(memory.recall("What productivity tools do I use?", user="u1", kinds=facts)))
    assert "Shram" in now
    assert "Magnet" not in now
    then = memory.recall("What productivity tools do I use?", user="u1", kinds=facts, valid_at=NOW - timedelta(days=1))
    assert "Magnet" in " ".join(texts(then))


def test_messages_of_every_form_are_kept_once(memory: Memory) -> None:
    memory.add({"role": "user", "content": "one", "id": "m1", "at": NOW}, user="u1", session="s")
    memory.add(
        [{"role": "assistant", "content": "two", "id": "m2"}, "three"], user="u1", session="s", metadata={"n": 1}
    )
    memory.add({"role": "user", "content": "one again", "id": "m1"}, user="u1", session="s")
    page = memory.messages(user="u1", session="s", limit=10)
    assert [one.text for one in page] == ["one", "two", "three"]
    assert page[0].at == NOW
    assert page[1].metadata == {"n": 1}
    assert memory.message("m1", user="u1") == page[0]
    assert [
        one.text for one in memory.messages(user="u1", limit=1, cursor=memory.messages(user="u1", limit=1).next_cursor)
    ]


def test_a_fact_lives_and_its_history_is_kept(memory: Memory) -> None:
    given: Any = {"user": "u1", "importance": 0.9, "metadata": {"from": "doctor"}}
    fact = memory.remember("Allergic to peanuts", **given)
    assert memory.remember("Allergic to peanuts", **given).id == fact.id
    revised = memory.revise(fact.id, "Allergic to nuts", user="u1", reason="wider")
    assert (revised.id, revised.text, revised.importance) == (fact.id, "Allergic to nuts", 0.9)
    tagged = memory.revise(fact.id, user="u1", metadata={"from": None, "seen": 1}, expires_at=NOW + timedelta(10**5))
    assert (tagged.text, tagged.metadata) == ("Allergic to nuts", {"seen": 1})
    assert memory.revise(fact.id, user="u1", expires_at="never").expires_at is None
    with pytest.raises(InvalidInput, match="nothing is given"):
        memory.revise(fact.id, user="u1")
    memory.retract(fact.id, user="u1")
    assert list(memory.facts(user="u1")) == []
    memory.restore(fact.id, user="u1")
    assert [one.text for one in memory.facts(user="u1", where={"seen": 1})] == ["Allergic to nuts"]
    versions = memory.history(fact.id, user="u1")
    assert versions[0].text == "Allergic to peanuts"
    assert versions[1].changes[0].reason == "wider"
    assert memory.recall("allergic", user="u1", explain=True)[0].why is not None


def test_blocks_keep_their_order_and_any_name(memory: Memory) -> None:
    for name in ("a/b", "..", "ü %2F"):
        memory.set_block(name, f"text of {name}", user="u1")
    memory.append_block("..", "more", user="u1")
    assert [one.name for one in memory.blocks(user="u1")] == ["a/b", "..", "ü %2F"]
    memory.delete_block("a/b", user="u1")
    assert [one.text for one in memory.blocks(user="u1")] == ["text of ..\nmore", "text of ü %2F"]
    assert "more" in str(memory.context("anything", user="u1"))


def test_what_a_block_said_before_can_be_restored(memory: Memory) -> None:
    memory.set_block("profile", "Ana", user="u1")
    memory.set_block("profile", "Anna", user="u1")
    first, now = memory.block_history("profile", user="u1")
    assert (first.text, first.until, now.text, now.until) == ("Ana", now.since, "Anna", None)
    memory.set_block("profile", first.text, user="u1")
    assert [one.text for one in memory.block_history("profile", user="u1")] == ["Ana", "Anna", "Ana"]
    memory.forget(user="u1")
    with pytest.raises(NotFound):
        memory.block_history("profile", user="u1")


def test_a_change_of_what_somebody_else_has_changed_is_refused(memory: Memory) -> None:
    block, fact = memory.set_block("profile", "Ana", user="u1"), memory.remember("Allergic to nuts", user="u1")
    newer = memory.append_block("profile", "likes tea", user="u1", expected=block)
    revised = memory.revise(fact.id, "Allergic to peanuts", user="u1", expected=fact)
    for stale in (
        lambda: memory.set_block("profile", "Ben", user="u1", expected=block),
        lambda: memory.append_block("profile", "Ben", user="u1", expected=block),
        lambda: memory.delete_block("profile", user="u1", expected=block),
        lambda: memory.revise(fact.id, "Allergic to milk", user="u1", expected=fact),
        lambda: memory.retract(fact.id, user="u1", expected=fact),
        lambda: memory.restore(fact.id, user="u1", expected=fact),
    ):
        with pytest.raises(Conflict):
            stale()
    gone = memory.retract(fact.id, user="u1", expected=revised)
    memory.restore(fact.id, user="u1", expected=gone)
    memory.delete_block("profile", user="u1", expected=newer)
    assert [one.text for one in memory.facts(user="u1")] == ["Allergic to peanuts"]


@pytest.mark.parametrize("state", [[1], {"n": object()}, {1: 2}])
def test_a_state_that_is_none_is_refused_by_its_name(memory: Memory, state: Any) -> None:
    with pytest.raises(InvalidInput, match="state=.*expected"):
        memory.session("s", user="u1").update(state)


def test_a_session_keeps_state_for_a_while(memory: Memory) -> None:
    memory.add("Hello there", user="u1", session="s/1")
    session = memory.session("s/1", user="u1", ttl=timedelta(minutes=5))
    assert session.get() == {}
    assert session.update({"step": 1}, name="x") == {"step": 1, "name": "x"}
    assert session.update(step=None) == {"name": "x"}
    assert session.exchange({"name": "y"}, expected={"name": "x", "step": None}) == {"name": "y"}
    with pytest.raises(Conflict):
        session.exchange({"name": "z"}, expected={"name": "x"})
    assert session.get() == {"name": "y"}
    assert session.touch(ttl=60).messages == 1
    assert [one.text for one in session.recent(5)] == ["Hello there"]
    assert [one.id for one in memory.sessions(user="u1")] == ["s/1"]
    session.end()
    assert session.get() == {}
    assert memory.session("unknown", user="u1").info() is None


def test_users_are_apart_and_nobody_is_a_user_of_their_own(memory: Memory) -> None:
    memory.add("I live in Berlin", user="u1")
    memory.add("I live in Rome")
    assert texts(memory.recall("", user="u1", kinds="message")) == ["I live in Berlin"]
    assert texts(memory.recall("", kinds="message")) == ["I live in Rome"]
    assert memory.profile(user="u1").messages == 1


def test_what_is_forgotten_is_gone(memory: Memory) -> None:
    memory.add("I live in Berlin", user="u1", session="s1")
    assert memory.forget(user="u1", dry_run=True).at is None
    receipt = memory.forget(user="u1", session="s1")
    assert receipt.counts["ledger"]["messages"] == 1
    assert "ledger" in receipt.verified
    assert memory.recall("Berlin", user="u1") == []
    assert [one.id for one in memory.receipts(user="u1")] == [receipt.id]


def test_an_export_is_all_of_a_user(memory: Memory, tmp_path: Path) -> None:
    memory.add("I live in Berlin", user="u1")
    held = memory.export(user="u1", to=tmp_path / "out.jsonl")
    assert held.counts["messages"] == 1
    assert "Berlin" in str(held)
    assert (tmp_path / "out.jsonl").read_text() == str(held)


def test_a_memory_is_looked_after(memory: Memory) -> None:
    memory.add("I live in Berlin", user="u1")
    assert memory.stats().counts["messages"] == 1
    assert memory.doctor().healthy
    assert memory.reindex().rows > 0
    assert memory.jobs() == []
    assert memory.replay() == 0
    assert not memory.relearn(user="u1").applied
    assert memory.settle(memory.add("I like tea", user="u1")).pending == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda memory: memory.add("   ", user="u1"),
        lambda memory: memory.add("x", user=""),
        lambda memory: memory.add("x", user={"$ne": None}),
        lambda memory: memory.facts(user=7),
        lambda memory: memory.add("x", at=datetime(2026, 1, 1)),  # noqa: DTZ001
        lambda memory: memory.add("x", metadata={"a": float("nan")}),
        lambda memory: memory.add("x", metadata={"a": object()}),
        lambda memory: memory.recall("x", limit=-1),
        lambda memory: memory.recall("x", kinds={"nonsense"}),
        lambda memory: memory.recall("x", where={"a": {"$near": 1}}),
        lambda memory: memory.remember("x", importance=2),
        lambda memory: memory.facts(cursor="nonsense"),
        lambda memory: memory.session("", user="u1"),
        lambda memory: memory.forget(),
        lambda memory: memory.forget(whole_tenant="another"),
    ],
)
def test_a_wrong_argument_is_refused_alike(memory: Memory, wrong: "object") -> None:
    assert callable(wrong)
    with pytest.raises(InvalidInput):
        wrong(memory)


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    for missing in (
        lambda: memory.history("nobody", user="u1"),
        lambda: memory.revise("nobody", "x", user="u1"),
        lambda: memory.delete_block("nobody", user="u1"),
        lambda: memory.forget(message="nobody", user="u1"),
        lambda: memory.message("nobody", user="u1"),
    ):
        with pytest.raises(NotFound):
            missing()


def test_what_was_missed_is_explained(memory: Memory) -> None:
    memory.add("I live in Berlin", user="u1", session="s1")
    missed = memory.remember("Allergic to peanuts", user="u1")
    assert memory.why_not(missed.id, "Berlin", user="u1").reason != "returned"
    assert memory.why_not(missed.id, "peanuts", user="u1", kinds="message").filters == ("kinds",)
    assert memory.why_not("nobody", "peanuts", user="u1").reason == "unknown"


def test_what_others_read_out_of_a_message_is_learned_if_the_message_says_it(memory: Memory) -> None:
    (said,) = memory.add("By the way: Shram, that is my editor", user="u1", learn=False).messages
    proposal = Proposal(
        quote="Shram, that is my editor", text="Uses Shram", subject="user", attribute="uses", value="Shram"
    )
    made_up = replace(proposal, quote="Magnet", text="Uses Magnet", value="Magnet")
    added = memory.propose(said, [proposal, made_up], user="u1", by="reader")
    assert len(added.changes) == 1
    assert [one.text for one in memory.facts(user="u1")] == ["Uses Shram"]
    with pytest.raises(InvalidInput):
        memory.propose(said, ["Uses Magnet"], user="u1")  # type: ignore[list-item]


def test_a_user_on_hold_is_kept(memory: Memory) -> None:
    memory.add("I live in Berlin", user="u1")
    memory.hold(user="u1", reason="court")
    assert [(one.user, one.reason) for one in memory.holds()] == [("u1", "court")]
    with pytest.raises(OnHold):
        memory.forget(user="u1")
    memory.release(user="u1")
    with pytest.raises(NotFound):
        memory.release(user="u1")


def test_what_has_expired_goes(memory: Memory) -> None:
    memory.add("I live in Berlin", user="u1", expires_at=datetime.now(UTC) + timedelta(seconds=0.5))
    time.sleep(0.6)
    assert not memory.purge(dry_run=True).applied
    assert memory.consolidate(user="u1", dry_run=True).applied is False
    memory.purge()  # or the service, which looks for what is due by itself, was faster
    assert not list(memory.messages(user="u1"))
    assert memory.consolidate(everyone=True).applied
    with pytest.raises(InvalidInput):
        memory.consolidate(user="u1", everyone=True)


def test_what_was_exported_is_imported_once(memory: Memory, tmp_path: Path) -> None:
    memory.add("I live in Berlin", user="u1", session="s1")
    memory.export(user="u1", to=tmp_path / "out.jsonl")
    assert memory.import_from(tmp_path / "out.jsonl", user="u2", dry_run=True).added["messages"] == 1
    assert memory.import_from(tmp_path / "out.jsonl", user="u2").added["messages"] == 1
    with (tmp_path / "out.jsonl").open("rb") as file:
        assert memory.import_from(file, user="u2").known["messages"] == 1
    assert [one.text for one in memory.messages(user="u2")] == ["I live in Berlin"]
    lines = ['{"content": "I like tea", "user": "u3"}', '{"content": "I like coffee"}']
    taken = memory.import_from(lines, user="u2", only=True)
    assert (taken.added["messages"], [bad.place for bad in taken.bad]) == (1, ["line 1"])
    with pytest.raises(InvalidInput):
        memory.import_from(lines, user="u2", only=True, strict=True)
    with pytest.raises(InvalidInput):
        memory.import_from(tmp_path / "missing")


@pytest.fixture(params=["memory", "client"])
def with_snapshots(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory whose settings say where its snapshots go: a service takes no place from a request."""
    kept = str(tmp_path / "kept")
    with ExitStack() as stack:
        if request.param == "memory":
            yield stack.enter_context(Memory.open(tmp_path / "home", embedder=embed, snapshot_to=kept))
        else:
            running = stack.enter_context(live(tmp_path / "home", snapshot_to=kept))
            yield stack.enter_context(Client(running.url))


def test_snapshots_are_made_verified_and_pruned(with_snapshots: Memory) -> None:
    memory = with_snapshots
    memory.add("I live in Berlin", user="u1")
    first, second = memory.snapshot(), memory.snapshot()
    assert [(one.name, one.counts, one.parts) for one in memory.snapshots()] == [
        (one.name, one.counts, one.parts) for one in (first, second)
    ]
    assert memory.verify_snapshot().whole
    assert memory.verify_snapshot(first.name).records == sum(part.records for part in first.parts)
    assert memory.prune_snapshots(keep=1).removed == (first.name,)
    with pytest.raises(InvalidInput):
        memory.prune_snapshots()


def test_what_only_its_place_can_do_is_refused_from_afar(service: Live, tmp_path: Path) -> None:
    with Client(service.url, key=service.key(tenant=tmp_path.name)) as memory:
        for refused in (
            memory.tend,
            memory.work,
            lambda: memory.snapshots(tmp_path),
            lambda: memory.snapshot(tmp_path),
        ):
            with pytest.raises(NotOverHTTP):
                refused()
        with pytest.raises(NotAllowed, match="403"):
            memory.snapshots()


def test_a_key_of_one_user_needs_not_name_them_and_may_not_name_others(service: Live, tmp_path: Path) -> None:
    with Client(service.url, key=service.key(tenant=tmp_path.name, user="u1", role="write")) as memory:
        memory.add("I live in Berlin")
        assert memory.profile().user == "u1"
        with pytest.raises(NotAllowed, match="403"):
            memory.recall("", user="u2")
        with pytest.raises(NotAllowed, match="403"):
            memory.doctor()
        with pytest.raises(NotAllowed, match="403"):
            memory.import_from(['{"content": "Planted"}'], user="u2")
        with pytest.raises(NotAllowed, match="403"):
            memory.import_from(['{"content": "Planted"}'], anonymous=True)
        planted = memory.import_from(['{"content": "Planted", "user": "u2"}'])
        assert (planted.added, [bad.place for bad in planted.bad]) == ({}, ["line 1"])


def test_a_service_that_is_not_there_is_unavailable() -> None:
    with Client("http://127.0.0.1:1") as memory, pytest.raises(Unavailable):
        memory.blocks()


def test_a_file_goes_with_its_message_and_comes_back(memory: Memory, tmp_path: Path) -> None:
    notes = b"The ferry to Quillon leaves at seven."
    (tmp_path / "trip.md").write_bytes(notes)
    memory.add("See the plan", user="u1", attachments=[tmp_path / "trip.md"])
    memory.add([{"content": "And this", "attachments": [{"data": notes, "caption": "again"}]}, "Fine"], user="u1")
    found = next(one for one in memory.recall("ferry to Quillon", user="u1") if one.text == "See the plan")
    (attachment,) = found.attachments
    assert (attachment.name, attachment.type) == ("trip.md", "text/markdown")
    assert memory.attachment(attachment.id, user="u1") == attachment
    assert memory.read_attachment(attachment.id, user="u1") == notes
    assert memory.save_attachment(attachment.id, tmp_path / "copy.md", user="u1") == attachment
    assert (tmp_path / "copy.md").read_bytes() == notes
    with pytest.raises(NotFound):
        memory.read_attachment(attachment.id, user="u2")
    kept = memory.attach(notes, user="u2", name="mine.txt")
    memory.add("Mine", user="u2", attachments=[{"id": kept.id, "name": kept.name}])
    assert memory.messages(user="u2")[0].attachments[0].text == notes.decode()
    for nonsense in ("trip.md", {"path": "trip.md"}, tmp_path / "nothing", b"", {"id": "../x"}):
        with pytest.raises(InvalidInput):
            memory.add("See", user="u1", attachments=[nonsense])  # type: ignore[list-item]


@pytest.mark.parametrize("url", ["localhost:8000", "", "ftp://host", "http://[", "http://h:99999", "http://ana:hush@h"])
def test_an_address_that_is_none_is_refused_at_once_and_not_shown(url: str) -> None:
    before = threading.active_count()
    with pytest.raises(InvalidInput, match="url: expected http://host:port") as refused:
        Client(url)
    assert "hush" not in str(refused.value)
    assert threading.active_count() == before
