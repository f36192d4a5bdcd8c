"""kill -9 of every part at random, under load; then a look at what is left. `make chaos` runs it for three minutes.

What must hold: nothing acknowledged is lost, or missing from what is read right after it, through Redis and by recall;
nobody is shown another's memory; every job has its effect exactly once; and the service answers again by itself.
"""

import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.learning.scripted_model import by_rules, serving
from tests.scale.stack import ENGINES, Part, Stack, end_once_by_signal, running

USERS = 6
STATE = "/v1/sessions/s/state"
PATIENCE = 120.0
"""Seconds for everything to settle after the last kill."""
BACK = 30.0
"""Seconds in which a write must be acknowledged again: few, unless the machine has much else to do."""
SETTINGS = {
    "COMMONPLACE_AGENT_MODEL": "openai:small",
    "COMMONPLACE_AGENT_RETRIES": "0",
    "COMMONPLACE_LEARNING_LEASE": "5",
    "COMMONPLACE_LEARNING_RETRY_DELAY": "0.2",
    "COMMONPLACE_LEARNING_ATTEMPTS": "20",
    "COMMONPLACE_INDEX": "chroma",
    "COMMONPLACE_API_LIMIT_READ": "1000000/minute",
    "COMMONPLACE_API_LIMIT_WRITE": "1000000/minute",
    "OPENAI_API_KEY": "none",
}


@dataclass(slots=True)
class Report:
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    """What was said by each user, by the name of the tool it was about."""
    kills: Counter[str] = field(default_factory=Counter)
    away: dict[str, list[float]] = field(default_factory=dict)
    """By part: seconds from an engine's return, or a process's end, to the next acknowledged write."""
    refused: int = 0
    recalls: int = 0
    strangers: list[str] = field(default_factory=list)
    """What somebody was shown of somebody else."""
    lost: list[str] = field(default_factory=list)
    unfound: list[str] = field(default_factory=list)
    """What was acknowledged, and not found by the recall right after it."""
    stale: list[str] = field(default_factory=list)
    """States and last messages that were not the ones acknowledged last."""
    unlearned: list[str] = field(default_factory=list)
    learned_twice: list[str] = field(default_factory=list)
    dead: int = 0

    @property
    def holds(self) -> bool:
        wrong = (self.strangers, self.lost, self.unfound, self.stale, self.unlearned, self.learned_twice)
        back = all(max(seconds) < BACK for seconds in self.away.values())
        return back and not self.dead and not any(wrong)

    def __str__(self) -> str:
        writes = sum(map(len, self.acknowledged.values()))
        kills = ", ".join(f"{count} x {part}" for part, count in sorted(self.kills.items()))
        longest = ", ".join(f"{part} {max(seconds):.1f}" for part, seconds in sorted(self.away.items()))
        return (
            f"killed {kills}; {writes} writes acknowledged, {self.recalls} recalls, {self.refused} requests refused; "
            f"seconds until the next write, at most: {longest}; "
            f"lost {len(self.lost)}, not found {len(self.unfound)}, stale {len(self.stale)}, "
            f"others' memories {len(self.strangers)}, "
            f"not learned {len(self.unlearned)}, learned twice {len(self.learned_twice)}, dead jobs {self.dead}"
        )


class Storm:
    def __init__(self, stack: Stack, *, seed: int) -> None:
        self._stack, self._random, self.report = stack, random.Random(seed), Report()
        self._last_write, self._over = 0.0, asyncio.Event()
        self._next: list[Part] = []

    async def blow(self, seconds: float) -> Report:
        """Load and kill for so long, let it settle, and look."""
        async with httpx2.AsyncClient(base_url=self._stack.url, timeout=30) as asking:
            clients = [asyncio.create_task(self._client(asking, f"u{number}")) for number in range(USERS)]
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                await self._kill_something()
            self._over.set()
            await asyncio.gather(*clients)
            await self._learned_all(asking)
            for user, tools in self.report.acknowledged.items():
                await self._look(asking, user, tools)
        return self.report

    async def _client(self, asking: httpx2.AsyncClient, user: str) -> None:
        said = self.report.acknowledged.setdefault(user, [])
        while not self._over.is_set():
            tool = f"Tool{user}x{len(said)}x"
            message = {"id": tool, "role": "user", "content": f"I use {tool} as a tool"}
            # The same message again until it is acknowledged: its id makes it one message, however often it arrives.
            await self._insist(asking, "POST", "/v1/messages", {"content": [message], "user": user, "session": "s"})
            said.append(tool)
            self._last_write = time.monotonic()
            await self._insist(asking, "PATCH", STATE, {"values": {"last": tool}, "user": user})
            await self._reread(asking, user, tool)
            if self._random.random() < 0.3:
                await self._recall(asking, user, tool)

    async def _recall(self, asking: httpx2.AsyncClient, user: str, tool: str) -> None:
        """What was acknowledged is found at once, by whichever process answers; and nothing of anybody else."""
        found = await self._ask(asking, "POST", "/v1/recall", {"query": f"Do I use {tool}?", "user": user})
        if found is not None:
            self.report.recalls += 1
            texts = [one["text"] for one in found["items"]]
            self.report.strangers += [text for text in texts if f"Tool{user}x" not in text]
            self.report.unfound += [] if any(tool in text for text in texts) else [tool]

    async def _reread(self, asking: httpx2.AsyncClient, user: str, tool: str) -> None:
        """What is read through Redis is what was acknowledged last."""
        state = await self._ask(asking, "GET", f"{STATE}?user={user}")
        recent = await self._ask(asking, "GET", f"/v1/sessions/s/recent?user={user}&n=1")
        read = [] if state is None else [state["state"].get("last")]
        read += [] if recent is None else [one["id"] for one in recent["items"]] or [None]
        self.report.stale += [f"{one} instead of {tool}" for one in read if one != tool]

    async def _insist(self, asking: httpx2.AsyncClient, method: str, path: str, body: dict[str, Any]) -> None:
        while await self._ask(asking, method, path, body) is None:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.1)

    async def _ask(self, asking: httpx2.AsyncClient, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the answer; None when there was none, or the service said that it cannot now."""
        try:
            answer = await asking.request(method, path, json=body)
        except httpx2.TransportError:
            self.report.refused += 1
            return None
        if answer.status_code >= 500:
            self.report.refused += 1
            return None
        answer.raise_for_status()
        return answer.json()

    async def _kill_something(self) -> None:
        if not self._next:  # each has its turn, in an order that changes
            self._next = self._random.sample([*ENGINES, "api", "worker"], k=len(ENGINES) + 2)
        part = self._next.pop()
        number = self._random.randrange(self._stack.workers)
        self.report.kills[part] += await asyncio.to_thread(self._stack.kill, part, number)
        await asyncio.sleep(self._random.random())
        if part != "api":  # the process above starts another one by itself
            await asyncio.to_thread(self._stack.start_part, part, number)
        began = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            while self._last_write < began:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0.02)
        self.report.away.setdefault(part, []).append(self._last_write - began)
        await asyncio.sleep(self._random.random())

    async def _learned_all(self, asking: httpx2.AsyncClient) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                with contextlib.suppress(httpx2.TransportError):
                    answer = await asking.get("/v1/jobs", params={"limit": 1000})
                    jobs = answer.json()["items"] if answer.status_code == 200 else [{"status": "queued"}]
                    self.report.dead = sum(job["status"] == "dead" for job in jobs)
                    if len(jobs) == self.report.dead:
                        return
                await asyncio.sleep(0.2)

    async def _look(self, asking: httpx2.AsyncClient, user: str, tools: list[str]) -> None:
        messages = Counter([one["id"] async for one in _every(asking, "/v1/messages", user)])
        facts = [one async for one in _every(asking, "/v1/facts", user)]
        learned = Counter(one["value"] for one in facts)
        once = min((one["confidence"] for one in facts), default=0.0)
        self.report.lost += [tool for tool in tools if messages[tool] != 1]
        self.report.unlearned += [tool for tool in tools if not learned[tool]]
        self.report.learned_twice += [value for value, count in learned.items() if count > 1]
        # What is learned again from the same message makes no second fact, but a surer one.
        self.report.learned_twice += [one["value"] for one in facts if one["confidence"] > once]
        self.report.strangers += [one for one in (*messages, *learned) if not one.startswith(f"Tool{user}x")]


async def _every(asking: httpx2.AsyncClient, path: str, user: str) -> AsyncIterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        asked = {"user": user, "limit": "100"} | ({} if cursor is None else {"cursor": cursor})
        answer = await asking.get(path, params=asked)
        answer.raise_for_status()
        page = answer.json()
        for item in page["items"]:
            yield item
        cursor = page["next_cursor"]
        if cursor is None:
            return


@contextlib.contextmanager
def prepared(folder: Path) -> Iterator[Stack]:
    """Run everything, with a model that reads what the rules read."""
    with serving(by_rules) as model, running(folder, COMMONPLACE_AGENT_BASE_URL=f"{model.url}/v1", **SETTINGS) as stack:
        yield stack


def main(seconds: float) -> int:
    end_once_by_signal()
    seed = random.SystemRandom().randrange(1_000_000)
    with tempfile.TemporaryDirectory(prefix="commonplace-chaos-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with prepared(Path(folder)) as stack:
            report = asyncio.run(Storm(stack, seed=seed).blow(seconds))
    sys.stdout.write(f"seed {seed}: {report}\n")
    return 0 if report.holds else 1


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 150.0))
