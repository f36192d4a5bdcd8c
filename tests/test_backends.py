"""Which suites run on which engines: read from what pytest collects, so that a pair that vanishes is noticed."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from tests.backends import LEDGERS, PAIRWISE, Engines

ROOT = Path(__file__).parent.parent
PAIRED = {
    "scenario": "tests/engine/test_story.py",
    "isolation": "tests/isolation/test_engines.py",
    "isolation over HTTP": "tests/isolation/test_http.py",
    "isolation over MCP": "tests/isolation/test_mcp.py",
    "isolation behind the proxies": "tests/isolation/test_proxies.py",
    "care": "tests/care/test_forgetting.py",
    "faults": "tests/faults/test_kill_memory.py",
}
"""Of each suite, what runs on every pair. The rest of it runs on each ledger, and each index has its contract."""

ON_BOTH_LEDGERS = ("tests/engine/", "tests/isolation/", "tests/care/", "tests/faults/", "tests/e2e/")
NOT_ON_BOTH = {
    "tests/care/importers/test_formats.py": "files of other products are read, and a ledger is not asked",
    "tests/care/importers/test_messages.py": "as the formats",
    "tests/care/test_encryption.py": "ledger_key encrypts a file; a server's disk is its owner's",
    "tests/care/test_forget.py": "pure decisions",
    "tests/care/test_lines.py": "lines of a file and records of it, without a ledger",
    "tests/e2e/test_private.py": "the modes of the files, and the sockets of a memory without a server",
    "tests/engine/test_postgres_memory.py": "both are opened and compared, and what only a server needs is refused",
    "tests/faults/test_kill_chroma.py": "the folder of Chroma by itself",
    "tests/faults/test_kill_ledger.py": "the file of SQLite and its log; a server's are in test_kill_postgres.py",
    "tests/faults/test_kill_postgres.py": "the server's own process is killed",
    "tests/faults/test_redis_races.py": "what is in Redis by itself, and a ledger that waits when it is told to",
    "tests/faults/test_redis_strange.py": "what is in Redis by itself",
}
"""What runs on one ledger, or none, by its nature. Single tests of other files are marked `backends("files")`, and say
why beside it."""
ON = re.compile(r"\[(?:.*-)?(sqlite|postgres)\+(exact|chroma|chroma-server|pgvector)\+(ledger|redis)\b")


@pytest.fixture(scope="module")
def collected(request: pytest.FixtureRequest) -> Sequence[str]:
    """The ids of all tests: of this run, or, if it is one of some tests only, of those that are looked at here."""
    found = [item.nodeid for item in request.session.items]
    if all(any(one.startswith(folder) for one in found) for folder in (*ON_BOTH_LEDGERS, "tests/contracts/")):
        return found
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *ON_BOTH_LEDGERS, "tests/contracts/"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in ran.stdout.splitlines() if "::" in line]


def engines_of(ids: Sequence[str], file: str) -> Iterator[Engines]:
    for one in ids:
        if one.startswith(f"{file}::") and (named := ON.search(one)):
            ledger, index, sessions = named.groups()
            yield Engines(ledger, index.replace("-", " "), sessions)  # type: ignore[arg-type]


def pairs_of(engines: Engines) -> set[tuple[str, ...]]:
    named = [("ledger", engines.ledger), ("index", engines.index), ("sessions", engines.sessions)]
    return {(*one, *other) for one, other in combinations(named, 2)}


def every_pair() -> set[tuple[str, ...]]:
    choices = [get_args(kind) for kind in get_type_hints(Engines).values()]
    return {pair for chosen in product(*choices) for pair in pairs_of(Engines(*chosen))}


def test_every_two_engines_of_different_kinds_meet() -> None:
    assert set().union(*map(pairs_of, PAIRWISE)) == every_pair()
    assert {engines.ledger for engines in LEDGERS} == {"sqlite", "postgres"}


@pytest.mark.parametrize("suite", PAIRED)
def test_each_suite_runs_on_every_pair(collected: Sequence[str], suite: str) -> None:
    assert set().union(*map(pairs_of, engines_of(collected, PAIRED[suite]))) == every_pair()


def test_what_one_ledger_is_put_to_the_other_is_too(collected: Sequence[str]) -> None:
    files = {one.partition("::")[0] for one in collected if one.startswith(ON_BOTH_LEDGERS)}
    one_only = {
        file
        for file in files
        if not all(
            any(ledger in one.partition("::")[2] for one in collected if one.startswith(f"{file}::"))
            for ledger in ("sqlite", "postgres")
        )
    }
    assert one_only == set(NOT_ON_BOTH), 'mark it @pytest.mark.backends("ledgers"), or say in NOT_ON_BOTH why not'


def test_every_ledger_passes_one_contract(collected: Sequence[str]) -> None:
    def promises(name: str) -> set[str]:
        file = f"tests/contracts/test_{name}_ledger.py::"
        return {one.rpartition("::")[2].partition("[")[0] for one in collected if one.startswith(file)}

    common = promises("inmemory")
    assert len(common) > 200
    assert common <= promises("sqlite")
    assert common <= promises("postgres")
