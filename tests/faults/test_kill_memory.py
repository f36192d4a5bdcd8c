"""A process is killed amid adds, revisions and retractions: what it acknowledged is there, and Chroma agrees."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

from commonplace.adapters.hashing import HashEmbedder
from commonplace.sync import Memory

ROUNDS = 50 if settings.get_current_profile_name() == "soak" else 8
WRITER = Path(__file__).with_name("memory_writer.py")
LATER = {"Likes": 0, "Loves": 1, "retracted": 2}


def killed(folder: Path, round_: int, index: str, chance: random.Random) -> list[list[str]]:
    """Start a writer, kill it at some moment, and return what it had acknowledged."""
    writer = subprocess.Popen(
        [sys.executable, str(WRITER), str(folder), str(round_), index], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    time.sleep(chance.uniform(0.01, 0.6))
    writer.send_signal(signal.SIGKILL)
    said, _ = writer.communicate()
    return [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.parametrize("index", ["exact", "chroma"])
def test_nothing_acknowledged_is_lost_to_a_kill(index: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    messages: set[str] = set()
    facts: dict[str, int] = {}
    for round_ in range(ROUNDS):
        for kind, id_, *state in killed(tmp_path / "memory", round_, index, chance):
            if kind == "message":
                messages.add(id_)
            else:
                facts[id_] = LATER[state[0]]
    assert len(messages) > ROUNDS
    with Memory.open(tmp_path / "memory", embedder=HashEmbedder(dimensions=32), index=index) as memory:
        kept = {message.id for message in memory.messages(user="u", limit=10_000)}
        assert messages <= kept
        for fact, reached in facts.items():
            changes = [change.change for version in memory.history(fact, user="u") for change in version.changes]
            assert changes[: reached + 1] == ["remembered", "revised", "retracted"][: reached + 1]
        assert memory.doctor(repair=True).healthy
        assert memory.doctor().healthy
        last = f"tool{ROUNDS - 1}x0"
        assert any(last in hit.text for hit in memory.recall(last, user="u", limit=5))


def test_two_processes_write_and_read_one_folder_and_see_each_other_at_once(tmp_path: Path) -> None:
    """Both have Chroma on; one of them owns it, the other searches exactly, and neither answers wrongly."""
    embedder = HashEmbedder(dimensions=32)
    writer = subprocess.Popen(
        [sys.executable, str(WRITER), str(tmp_path), "0", "chroma"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with Memory.open(tmp_path, embedder=embedder, index="chroma") as memory:
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
