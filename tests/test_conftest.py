"""The guards of the test suite, tried on small suites of their own."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import run_sql

ROOT = Path(__file__).parent.parent

SKIPPING = {
    "test_function.py": """
import pytest

def test_a_server():
    pytest.skip("needs a server")
""",
    "test_module.py": """
import pytest

pytest.skip("needs a server", allow_module_level=True)
""",
    "test_on_purpose.py": """
import pytest

@pytest.mark.skipif(True, reason="Windows only")
def test_windows():
    pass
""",
}

CALLING_HOME = {
    "test_calling_home.py": """
import contextlib
import socket

def test_a_call_that_nobody_hears():
    with contextlib.suppress(OSError):
        socket.create_connection(("192.0.2.1", 443), timeout=1)
""",
}


FAILING = {
    "test_failing.py": """
def test_that_fails():
    assert 1 == 2, "not equal"

def test_that_passes():
    pass
""",
}


MAKING_A_FOLDER = {
    "test_making_a_folder.py": """
def test_with_a_folder(tmp_path):
    pass
""",
}


def printed(suite: dict[str, str], *, folder: Path, environment: dict[str, str], ci: bool) -> list[str]:
    for name, text in suite.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "--continue-on-collection-errors"]
    own = environment | {"PYTHONPATH": str(ROOT), "CI": "true" if ci else ""}
    ran = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
    return ran.stdout.splitlines()


def closing_line(suite: dict[str, str], *, folder: Path, environment: dict[str, str], ci: bool) -> str:
    return printed(suite, folder=folder, environment=environment, ci=ci)[-1]


def test_a_failure_is_named_before_the_summary(tmp_path: Path, environment: dict[str, str]) -> None:
    lines = printed(FAILING, folder=tmp_path, environment=environment, ci=False)
    (named,) = [n for n, line in enumerate(lines) if "test_failing.py::test_that_fails (call)" in line]
    assert named < next(n for n, line in enumerate(lines) if "= FAILURES =" in line)


def test_here_a_missing_server_is_a_visible_skip(tmp_path: Path, environment: dict[str, str]) -> None:
    assert "= 3 skipped in" in closing_line(SKIPPING, folder=tmp_path, environment=environment, ci=False)


def test_in_ci_a_missing_server_is_a_failure_and_other_skips_are_not(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    line = closing_line(SKIPPING, folder=tmp_path, environment=environment, ci=True)
    assert "= 1 failed, 1 skipped, 1 error in" in line


def test_leaving_the_machine_fails_even_if_the_refusal_is_swallowed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    line = closing_line(CALLING_HOME, folder=tmp_path, environment=environment, ci=False)
    assert "= 1 passed, 1 error in" in line


def test_a_server_on_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


async def test_an_async_test_runs_without_a_mark(anyio_backend_name: str) -> None:
    assert anyio_backend_name == "asyncio"


def test_another_run_of_the_tests_takes_nothing_from_the_servers_of_this_one(
    tmp_path: Path, environment: dict[str, str], postgres_url: str
) -> None:
    assert "= 1 passed in" in closing_line(MAKING_A_FOLDER, folder=tmp_path, environment=environment, ci=False)
    run_sql(postgres_url, "checkpoint")  # it opens files, as whoever it runs as


def test_no_two_tests_have_one_name(request: pytest.FixtureRequest) -> None:
    """Of those that have, only one would be given to the processes that share the tests."""
    names = [item.nodeid for item in request.session.items]
    assert len(names) == len(set(names))
