"""Learning from jobs: nothing that was said is lost, nothing is done twice, and a forget wins."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.rules import RuleExtractor
from commonplace.domain.errors import ModelUnavailable
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message
from commonplace.engine.engine import Engine
from commonplace.engine.jobs import delay
from commonplace.engine.parts import Options, Parts
from commonplace.ports.extractor import Extraction, Extractor, Said
from commonplace.ports.ledger import Ledger
from tests.backends import Backend

USER = Scope("default", "u1")

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
async def ledger(backend: Backend, tmp_path: Path) -> AsyncIterator[Ledger]:
    async with backend.open_ledger(tmp_path / "home") as ledger:
        yield ledger


class Slow:
    """The rules, as if they took their time. Fails as often as it is told."""

    def __init__(self, *, inline: bool = False, failures: int = 0, gate: asyncio.Event | None = None) -> None:
        self._rules, self._inline, self.failures, self._gate = RuleExtractor(), inline, failures, gate
        self.read: list[str] = []
        self.at_once = self.most_at_once = 0

    @property
    def inline(self) -> bool:
        return self._inline

    @property
    def identity(self) -> str:
        return "slow/1"

    def looks_back(self, message: Message) -> bool:
        return False

    async def extract(self, said: Said) -> Extraction:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0.001)
            if self._gate is not None:
                await self._gate.wait()
            if self.failures:
                self.failures -= 1
                raise ModelUnavailable("out for lunch")
            self.read.append(said.message.text)
            return await self._rules.extract(said)
        finally:
            self.at_once -= 1


@asynccontextmanager
async def engine(ledger: Ledger, extractor: Extractor, **options: float) -> AsyncIterator[Engine]:
    given = {"learning_retry_delay": 0.01, "index": "exact", **options}
    parts = Parts(
        ledger=ledger,
        embedder=HashEmbedder(),
        index=None,
        extractor=extractor,
        options=Options(**given),  # type: ignore[arg-type]
    )
    async with Engine(parts) as memory:
        await memory.start()
        yield memory


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.001)


async def idle(memory: Engine) -> None:
    while await memory.jobs():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def values(memory: Engine) -> list[str]:
    return sorted(fact.value for fact in await memory.facts(user="u1"))


async def test_a_failing_extractor_loses_no_message_and_is_asked_again(ledger: Ledger) -> None:
    async with engine(ledger, Slow(inline=True, failures=2)) as memory:
        added = await memory.add("I live in Paris", user="u1")
        assert (added.pending, added.changes) == (1, ())
        assert [message.text for message in await memory.messages(user="u1")] == ["I live in Paris"]
        assert (await memory.add("I like tea", user="u1", wait=True)).pending == 0
        await idle(memory)
        assert await values(memory) == ["Paris", "tea"]


async def test_one_users_messages_are_read_one_by_one_in_the_order_they_were_said(ledger: Ledger) -> None:
    slow = Slow()
    async with engine(ledger, slow) as memory:
        said = [{"content": f"I like tea {n}", "at": f"2026-05-{n:02}T09:00:00+00:00"} for n in (4, 1, 3, 2)]
        await memory.add(said, user="u1", wait=True)
        assert slow.read == ["I like tea 1", "I like tea 2", "I like tea 3", "I like tea 4"]
        assert slow.most_at_once == 1


async def test_users_do_not_wait_for_each_other_but_only_so_many_run_at_once(ledger: Ledger) -> None:
    gate = asyncio.Event()
    slow = Slow(gate=gate)
    async with engine(ledger, slow, learning_concurrency=3) as memory:
        adding = asyncio.gather(*(memory.add("I like tea", user=f"u{n}", wait=True) for n in range(12)))
        await until(lambda: slow.at_once >= 3)
        gate.set()
        await adding
    assert slow.most_at_once == 3


async def test_closing_hands_the_job_back_untried(ledger: Ledger) -> None:
    slow = Slow(gate=asyncio.Event())
    async with engine(ledger, slow) as memory:
        await memory.add("I live in Paris", user="u1")
        await until(lambda: bool(slow.at_once))
    (job,) = await ledger.jobs("default")
    assert (job.status, job.attempts) == ("queued", 0)
    async with engine(ledger, Slow()) as memory:
        await idle(memory)
        assert await values(memory) == ["Paris"]


async def test_a_job_taken_by_two_workers_is_done_once(ledger: Ledger) -> None:
    gate = asyncio.Event()
    first, second = Slow(gate=gate), Slow()
    async with engine(ledger, first, learning_lease=3_600, learning_concurrency=1) as stuck:
        await stuck.add("I live in Paris", user="u1")
        await until(lambda: bool(first.at_once))
        (job,) = await ledger.jobs("default")
        await ledger.retry(job.id, run_at=job.run_at, error="")  # as if its lease had run out
        async with engine(ledger, second) as memory:
            await idle(memory)
        gate.set()
        await until(lambda: not first.at_once)
        (fact,) = await stuck.facts(user="u1")
        (version,) = await stuck.history(fact.id, user="u1")
        assert [change.change for change in version.changes] == ["learned"]


async def test_what_was_forgotten_meanwhile_is_not_learned() -> None:
    ledger, gate = InMemoryLedger(), asyncio.Event()
    slow = Slow(gate=gate)
    async with engine(ledger, slow) as memory:
        await memory.add("I live in Paris", user="u1")
        await until(lambda: bool(slow.at_once))
        ledger._find(USER).epoch += 1
        gate.set()
        await idle(memory)
        assert await values(memory) == []


async def test_eight_who_say_the_same_and_contradict_each_other_make_one_history(ledger: Ledger) -> None:
    said = ["I use Magnet", "I live in Paris", "I live in Rome", "I don't use Magnet anymore", "I like green tea"]

    async def talk(memory: Engine) -> None:
        for text in said:
            await memory.add(text, user="u1")

    async with engine(ledger, RuleExtractor()) as one, engine(ledger, RuleExtractor()) as other:
        await asyncio.gather(*(talk(one if n % 2 else other) for n in range(8)))
        await check_history(one, messages=8 * len(said))


async def check_history(memory: Engine, *, messages: int) -> None:
    assert len(await memory.messages(user="u1", limit=1_000)) == messages
    facts = list(await memory.facts(user="u1"))
    current = [(fact.attribute, fact.value) for fact in facts]
    assert len(set(current)) == len(current)
    assert sum(attribute == "home" for attribute, _ in current) == 1
    assert ("likes", "green tea") in current
    homes = [fact for fact in await memory._parts.ledger.believed(USER) if fact.attribute == "home"]
    homes.sort(key=lambda fact: fact.valid_from.timestamp() if fact.valid_from else 0.0)
    assert all(a.valid_to == b.valid_from for a, b in zip(homes, homes[1:], strict=False))


TALKER = """
import asyncio, json, sys
from commonplace import AsyncMemory
from commonplace.adapters.hashing import HashEmbedder

async def main(place, name):
    async with AsyncMemory.open(**json.loads(place), embedder=HashEmbedder()) as memory:
        async def talk(n):
            for text in ["I live in Paris", "I live in Rome", "I like green tea"]:
                await memory.add({"content": text, "id": f"{name}-{n}-{text}"}, user="u1")
        await asyncio.gather(*(talk(n) for n in range(4)))

asyncio.run(main(*sys.argv[1:]))
"""


async def test_two_processes_make_one_history(
    backend: Backend, ledger: Ledger, tmp_path: Path, environment: dict[str, str]
) -> None:
    place = json.dumps(backend.at(tmp_path / "home"), default=str)
    talkers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", TALKER, place, name, env=environment, cwd=tmp_path)
        for name in ("a", "b")
    ]
    assert [await talker.wait() for talker in talkers] == [0, 0]
    async with engine(ledger, RuleExtractor()) as memory:
        await check_history(memory, messages=24)


WORKER = """
import asyncio, json, sys
from commonplace.settings import Settings
from commonplace.wiring.ledgers import open_ledger
from tests.engine.test_jobs import Slow, engine, until

async def main(place):
    gate = asyncio.Event()
    slow = Slow(gate=gate)
    opening = open_ledger(Settings.from_sources(**json.loads(place)), in_process=False)
    async with opening as ledger, engine(ledger, slow, learning_lease=0.3) as memory:
        await until(lambda: bool(slow.at_once))
        sys.stdout.write("working\\n")
        sys.stdout.flush()
        await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_worker_killed_in_the_middle_leaves_the_job_to_the_next(
    backend: Backend, ledger: Ledger, tmp_path: Path, environment: dict[str, str]
) -> None:
    root = Path(__file__).parents[2]
    async with engine(ledger, Slow(gate=asyncio.Event())) as memory:
        await memory.add("I live in Paris", user="u1")
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WORKER,
        json.dumps(backend.at(tmp_path / "home"), default=str),
        env=environment | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"},
        cwd=root,
        stdout=subprocess.PIPE,
    )
    assert worker.stdout is not None
    assert (await worker.stdout.readline()).strip() == b"working"
    worker.send_signal(signal.SIGKILL)
    await worker.wait()
    (job,) = await ledger.jobs("default")
    assert (job.status, job.attempts) == ("running", 1)
    async with engine(ledger, Slow()) as memory:
        await idle(memory)
        (fact,) = await memory.facts(user="u1")
        (version,) = await memory.history(fact.id, user="u1")
        assert [change.change for change in version.changes] == ["learned"]


def test_the_delay_doubles_and_is_spread() -> None:
    middle = [delay(n, first=1.0, chance=0.5) for n in range(1, 5)]
    assert middle == [1.0, 2.0, 4.0, 8.0]
    assert delay(1, first=1.0, chance=0.0) < delay(1, first=1.0, chance=0.99)
    assert delay(60, first=1.0, chance=0.5) == 600.0


async def test_the_same_message_twice_gives_one_job(ledger: Ledger) -> None:
    slow = Slow()
    async with engine(ledger, slow) as memory:
        message = {"content": "I live in Paris", "id": "m1"}
        await asyncio.gather(*(memory.add(message, user="u1", wait=True) for _ in range(8)))
    assert slow.read == ["I live in Paris"]
