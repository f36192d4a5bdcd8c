"""A process is killed amid adds, revisions and retractions: what it acknowledged is there, and Chroma agrees."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from commonplace.adapters.hashing import HashEmbedder
from commonplace.sync import Memory
from tests.backends import Backend

ROUNDS = 20 if settings.get_current_profile_name() == "soak" else 2
WRITER = Path(__file__).with_name("memory_writer.py")
LATER = {"Likes": 0, "Loves": 1, "retracted": 2}


def writing(place: dict[str, Any], round_: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), json.dumps(place, default=str), str(round_)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def killed(place: dict[str, Any], round_: int, chance: random.Random) -> list[list[str]]:
    """Start a writer, kill it some time after its first write, and return what it had acknowledged."""
    writer = writing(place, round_)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    first = writer.stdout.readline()
    time.sleep(chance.uniform(0.01, 0.6))
    writer.send_signal(signal.SIGKILL)
    said, _ = writer.communicate()
    return [line.split() for line in (first + said).splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.backends("pairwise")
def test_nothing_acknowledged_is_lost_to_a_kill(backend: Backend, tmp_path: Path) -> None:
    chance, place = random.Random(7), backend.at(tmp_path / "memory")
    messages: set[str] = set()
    facts: dict[str, int] = {}
    for round_ in range(ROUNDS):
        for kind, id_, *state in killed(place, round_, chance):
            if kind == "message":
                messages.add(id_)
            else:
                facts[id_] = LATER[state[0]]
    assert len(messages) >= ROUNDS
    with Memory.open(**place, embedder=HashEmbedder(dimensions=32)) as memory:
        kept = {message.id for message in memory.messages(user="u", limit=10_000)}
        assert messages <= kept
        for fact, reached in facts.items():
            changes = [change.change for version in memory.history(fact, user="u") for change in version.changes]
            assert changes[: reached + 1] == ["remembered", "revised", "retracted"][: reached + 1]
        assert memory.doctor(repair=True).healthy
        assert memory.doctor().healthy
        last = f"tool{ROUNDS - 1}x0"
        assert any(last in hit.text for hit in memory.recall(last, user="u", limit=5))


@pytest.mark.backends("ledgers")
def test_two_processes_write_and_read_one_memory_and_see_each_other_at_once(backend: Backend, tmp_path: Path) -> None:
    """Both have a Chroma folder on: one of them owns it, the other searches exactly, and neither answers wrongly."""
    place = {**backend.at(tmp_path), "index": "chroma"}
    writer = writing(place, 0)
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with Memory.open(**place, embedder=HashEmbedder(dimensions=32)) as memory:
            for number in range(15):
                while (line := writer.stdout.readline().split())[0] != "message":
                    pass
                found = memory.recall(f"tool0x{number}", user="u", kinds={"message"}, limit=3, min_relevance=0)
                assert line[1] in {hit.id for hit in found}
                mine = memory.add(f"The heron number{number} waits", user="u")
                assert mine.messages[0] in {hit.id for hit in memory.recall(f"heron number{number}", user="u", limit=3)}
    finally:
        writer.kill()
        writer.communicate()
