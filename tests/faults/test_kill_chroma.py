"""Whatever happens to the process that owns a Chroma folder, the next one agrees with the ledger."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commonplace.adapters.chroma.index import ChromaIndex, Embedded, lock_of
from tests.faults.index_writer import COLLECTION, a_direction

KILLS = 20


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.faults.index_writer", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def reports(folder: Path, *, kills: int, seed: int) -> list[dict[str, object]]:
    with started("kill", str(folder), str(kills), str(seed)) as process:
        assert process.stdout is not None
        return [json.loads(line) for line in process.stdout]


def test_index_and_ledger_agree_after_each_of_twenty_kills_while_it_is_fed(tmp_path: Path) -> None:
    """By numbers, and because a search finds the rows. Vector files are rewritten every 48 rows, so kills hit that."""
    found = reports(tmp_path, kills=KILLS, seed=1)
    assert [report for report in found if report.get("lost") != [] or not report["owned"]] == []
    assert len(found) == KILLS
    assert found[-1]["rows"] != found[0]["rows"]


def test_a_process_owns_the_folder_until_it_is_killed_and_then_another_does(tmp_path: Path) -> None:
    with started("hold", str(tmp_path)) as owner:
        assert owner.stdout is not None
        assert json.loads(owner.stdout.readline()) == {"owned": True}
        index = ChromaIndex(Embedded(tmp_path / "chroma"))
        assert not index.owned
        assert not index.try_own()
        owner.kill()
        owner.wait()
        assert index.try_own()


async def test_what_a_killed_owner_was_given_is_there_for_the_next(tmp_path: Path) -> None:
    kill_the_owner(tmp_path)
    assert lock_of(tmp_path / "chroma").exists()
    async with ChromaIndex(Embedded(tmp_path / "chroma")) as index:
        assert await index.numbers(COLLECTION) == frozenset(range(20))
        (best, *_) = await index.search(COLLECTION, a_direction("7"), limit=1)
        assert best.n == 7


def kill_the_owner(folder: Path) -> None:
    with started("hold", str(folder)) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline()
