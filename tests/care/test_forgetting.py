"""forget, as whoever calls it sees it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.receipts import digest_of
from commonplace.domain.values import MessageId
from commonplace.memory import AsyncMemory
from tests.backends import Backend
from tests.engine.test_jobs import Slow, engine, idle, until, values

MAY, JUNE = datetime(2026, 5, 12, tzinfo=UTC), datetime(2026, 6, 12, tzinfo=UTC)
SHRAM, MAGNET = "User uses Shram as a productivity tool", "User uses Magnet as a productivity tool"


pytestmark = pytest.mark.backends("pairwise")


@pytest.fixture
async def memory(backend: Backend, tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    """The story: two tools, and one that is given up in another conversation."""
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=HashEmbedder()) as memory:
        both = {"id": "m1", "content": "I use Shram and Magnet as productivity tools"}
        await memory.add(both, user="u1", session="s1", at=MAY)
        await memory.add({"id": "m2", "content": "I don't use Magnet anymore"}, user="u1", session="s2", at=JUNE)
        await memory.add({"id": "m1", "content": "I like tea"}, session="s1")
        yield memory


async def facts(memory: AsyncMemory) -> list[str]:
    return sorted(fact.text for fact in await memory.facts(user="u1"))


async def messages(memory: AsyncMemory, user: str | None = "u1") -> list[str]:
    return [message.id for message in await memory.messages(user=user)]


async def test_a_user_is_gone_and_others_are_not(memory: AsyncMemory, backend: Backend) -> None:
    known = [fact.id for fact in await memory.facts(user="u1", as_of=datetime.now(UTC), valid_at=MAY)]
    receipt = await memory.forget(user="u1")
    assert receipt.digest == digest_of([MessageId("m1"), MessageId("m2")], known)
    looked = {"ledger", "cache", *(["index"] if backend.engines.index != "exact" else [])}
    looked |= {"redis"} if backend.engines.sessions == "redis" else set()
    # Only where the files are the ledger's own can it say that they were seen to.
    assert set(receipt.verified) == looked | ({"files"} if backend.ledger == "sqlite" else set())
    assert (receipt.user, receipt.what.whole) == ("u1", True)
    assert any("backups" in note for note in receipt.notes) == (backend.ledger == "postgres")
    assert await memory.recall("productivity tools", user="u1") == []
    assert (await facts(memory), await messages(memory)) == ([], [])
    assert await messages(memory, None) == ["m1"]
    assert await memory.receipts(user="u1") == [receipt]


async def test_a_forgotten_message_takes_its_facts_along(memory: AsyncMemory) -> None:
    await memory.forget(user="u1", message="m1")
    assert (await facts(memory), await messages(memory)) == ([], ["m2"])


async def test_what_a_forgotten_message_had_ended_holds_again(memory: AsyncMemory) -> None:
    assert await facts(memory) == [SHRAM]
    await memory.forget(user="u1", message="m2")
    assert await facts(memory) == [MAGNET, SHRAM]
    found = await memory.recall("productivity tools", user="u1")
    assert [item.note for item in found] == [None] * len(found)
    (magnet,) = [fact for fact in await memory.facts(user="u1") if fact.text == MAGNET]
    assert [version.sources for version in await memory.history(magnet.id, user="u1")] == [("m1",), (), ()]


async def test_a_session_goes_with_its_state(memory: AsyncMemory) -> None:
    await memory.session("s2", user="u1").update(draft="hello")
    await memory.forget(user="u1", session="s2")
    assert await messages(memory) == ["m1"]
    assert [session.id for session in await memory.sessions(user="u1")] == ["s1"]
    assert await memory.session("s2", user="u1").get() == {}


async def test_a_moment_divides_what_goes_from_what_stays(memory: AsyncMemory) -> None:
    await memory.remember("Allergic to peanuts", user="u1")
    await memory.forget(user="u1", before=JUNE)
    assert (await facts(memory), await messages(memory)) == (["Allergic to peanuts"], ["m2"])
    await memory.forget(user="u1", before=datetime.now(UTC))
    assert (await facts(memory), await messages(memory)) == ([], [])


async def test_a_fact_goes_and_the_message_that_said_it_stays(memory: AsyncMemory) -> None:
    (shram,) = await memory.facts(user="u1")
    receipt = await memory.forget(user="u1", fact=shram.id)
    assert await facts(memory) == []
    assert await messages(memory) == ["m1", "m2"]
    assert "are kept" in receipt.notes[0]
    with pytest.raises(NotFound):
        await memory.history(shram.id, user="u1")


async def test_a_dry_run_says_what_would_go_and_changes_nothing(memory: AsyncMemory) -> None:
    await memory.stats()  # the vectors of facts are filled in a moment after they are written
    planned = await memory.forget(user="u1", message="m1", dry_run=True)
    assert (planned.at, planned.verified) == (None, ())
    assert (await facts(memory), await messages(memory)) == ([SHRAM], ["m1", "m2"])
    done = await memory.forget(user="u1", message="m1")
    assert (done.counts, done.digest) == (planned.counts, planned.digest)


async def test_nothing_named_is_refused(memory: AsyncMemory) -> None:
    with pytest.raises(InvalidInput, match="nothing is named"):
        await memory.forget()
    assert await messages(memory, None) == ["m1"]


async def test_the_anonymous_user_has_to_be_meant(memory: AsyncMemory) -> None:
    with pytest.raises(InvalidInput, match="expected one of them"):
        await memory.forget(user="u1", anonymous=True)
    await memory.forget(anonymous=True)
    assert await messages(memory, None) == []
    assert await messages(memory) == ["m1", "m2"]


async def test_a_part_without_a_user_is_the_anonymous_one_s(memory: AsyncMemory) -> None:
    await memory.forget(message="m1")
    assert (await messages(memory, None), await messages(memory)) == ([], ["m1", "m2"])


@pytest.mark.backends("ledgers")
@pytest.mark.parametrize("named", [{"message": "m9"}, {"fact": "f9"}, {"message": "m1", "session": "s2"}])
async def test_what_is_not_there_is_not_found(memory: AsyncMemory, named: dict[str, str]) -> None:
    with pytest.raises(NotFound):
        await memory.forget(user="u1", **named)  # type: ignore[arg-type]


async def test_a_fact_is_named_alone(memory: AsyncMemory) -> None:
    with pytest.raises(InvalidInput, match="expected alone"):
        await memory.forget(user="u1", fact="f1", session="s1")


async def test_somebody_who_was_forgotten_may_come_back(memory: AsyncMemory) -> None:
    await memory.forget(user="u1")
    await memory.add({"id": "m1", "content": "I use Shram"}, user="u1")
    assert len(await facts(memory)) == 1
    assert (await memory.doctor()).healthy


async def test_work_under_way_does_not_bring_back_what_was_forgotten_and_the_rest_is_still_learned(
    backend: Backend, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    slow = Slow(gate=gate)
    async with backend.open_ledger(tmp_path) as ledger, engine(ledger, slow) as memory:
        await memory.add({"id": "m1", "content": "I live in Paris"}, user="u1")
        await memory.add({"id": "m2", "content": "I like tea"}, user="u1")
        await memory.add({"id": "m3", "content": "I use Shram"}, user="u1")
        await until(lambda: bool(slow.at_once))
        receipt = await memory.forget(user="u1", message="m2")
        assert receipt.counts["ledger"]["jobs"] == 1
        gate.set()
        await idle(memory)
        assert await values(memory) == ["Paris", "Shram"]
        await memory.forget(user="u1")
        assert await memory.jobs() == []


async def test_a_whole_tenant_is_forgotten_when_it_is_named(memory: AsyncMemory) -> None:
    await memory.stats()  # by then every vector is there to be counted
    planned = await memory.forget(whole_tenant="default", dry_run=True)
    assert (planned.at, await messages(memory)) == (None, ["m1", "m2"])
    steps: list[str] = []
    receipt = await memory.forget(whole_tenant="default", progress=lambda what, done, total: steps.append(what))
    assert (receipt.tenant, receipt.user, receipt.digest) == ("default", None, planned.digest)
    assert receipt.counts == planned.counts
    assert (receipt.counts["ledger"]["users"], receipt.counts["ledger"]["messages"]) == (2, 3)
    assert (await messages(memory), await messages(memory, None)) == ([], [])
    assert [len(await memory.receipts(user=user)) for user in ("u1", None)] == [1, 1]
    assert steps[0] == "Erasing" and steps[-1] == "Looking again"
    assert (await memory.forget(whole_tenant="default")).counts["ledger"] == {"users": 0}


@pytest.mark.backends("files")  # it is refused before any engine is asked
@pytest.mark.parametrize(
    ("named", "refusal"),
    [({"whole_tenant": "other"}, "this memory's tenant"), ({"whole_tenant": "default", "user": "u1"}, "alone")],
)
async def test_a_tenant_is_named_as_it_is_and_alone(memory: AsyncMemory, named: dict[str, str], refusal: str) -> None:
    with pytest.raises(InvalidInput, match=refusal):
        await memory.forget(**named)  # type: ignore[arg-type]
    assert await messages(memory) == ["m1", "m2"]


async def test_a_tenant_does_not_reach_into_another(backend: Backend, tmp_path: Path) -> None:
    embedder, place = HashEmbedder(), {**backend.at(tmp_path), "index": "auto"}
    async with AsyncMemory.open(**place, tenant="b", embedder=embedder) as other:
        await other.add("I use Magnet", user="u1")
        before = [item.id for item in await other.recall("Magnet", user="u1")]
        async with AsyncMemory.open(**place, tenant="a", embedder=embedder) as memory:
            await memory.add("I use Shram", user="u1")
            await memory.forget(whole_tenant="a")
        assert before and [item.id for item in await other.recall("Magnet", user="u1")] == before
