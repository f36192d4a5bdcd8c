"""What every test gets: one async backend, no way out to the network, and no skip that CI would not notice."""

import gc
import ipaddress
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from _pytest.nodeid import coerce_node_id
from hypothesis import settings

from tests.backends import backend, put_on_backends, shared_backend
from tests.servers import (
    chroma_url,
    milvus_shared,
    milvus_url,
    postgres_database,
    postgres_emptied,
    postgres_files,
    postgres_shared,
    postgres_url,
    redis_url,
    s3_folder,
    s3_url,
)

__all__ = [
    "backend",
    "chroma_url",
    "milvus_shared",
    "milvus_url",
    "postgres_database",
    "postgres_emptied",
    "postgres_files",
    "postgres_shared",
    "postgres_url",
    "redis_url",
    "s3_folder",
    "s3_url",
    "shared_backend",
]

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}

# A developer's own keys and settings must not change what a test sees.
OTHER_SETTINGS = {
    "AGENT_MODEL",
    "AGENT_TEMPERATURE",
    "ANTHROPIC_API_KEY",
    "API_PORT",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "DATABASE_URL",
    "DB_PATH",
    "EMBEDDING_MODEL",
    "EMBEDDING_PROVIDER",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MAX_ACTIVE_MEMORIES",
    "OPENAI_API_KEY",
    "REDIS_URL",
    "RETENTION_DAYS",
    "S3_BUCKET",
    "SNAPSHOT_INTERVAL",
    "SQL_PATH",
    "VECTOR_STORE_DIR",
}
for setting in list(os.environ):
    if setting in OTHER_SETTINGS or (setting.startswith("COMMONPLACE_") and setting != "COMMONPLACE_MODEL_CACHE"):
        del os.environ[setting]

# No deadline: a slow machine is not a failing test. CI draws the same examples each time, so red means changed code.
settings.register_profile("quick", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("soak", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if IN_CI else "quick"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "backends(choice): run on several engines, as tests/backends.py names them")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config))


class FailuresAtOnce:
    """Says which test has failed when it has: a run that is broken off never comes to its summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)  # after the letter of the test
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if report.failed and terminal is not None:
            reason = (report.longreprtext.strip().splitlines() or [""])[-1]
            terminal.write_line(f" {report.nodeid} ({report.when}): {reason}", red=True)


LONG = (
    "tests/test_docs.py",
    "tests/test_bench.py",
    "tests/isolation/",
    "tests/interfaces/mcp/",
    "tests/interfaces/cli/",
    "tests/care/",
    "tests/integrations/",
    "tests/faults/",
    "tests/scale/",
    "tests/web/",
    "tests/e2e/",
    "tests/interfaces/",
)
"""Where a test takes seconds. They are given out first, or one process would be busy with the last of them alone."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, and never look at the million objects of what was imported again."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _tell_apart(items)
    rank = {folder: place for place, folder in enumerate(LONG)}
    items.sort(key=lambda item: min((rank[part] for part in LONG if item.nodeid.startswith(part)), default=len(LONG)))


def _tell_apart(items: list[pytest.Item]) -> None:
    """Number tests of one name, as those that schemathesis makes of all operations: where several processes share the
    tests, each name is given out once, and the others of it would not run at all."""
    seen = Counter[str]()
    for item in items:
        seen[item.nodeid] += 1
        if (number := seen[item.nodeid]) > 1:
            item._id = coerce_node_id(f"{item.nodeid}[{number}]")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    put_on_backends(metafunc)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", metavar="FOLDER", help="take a screenshot of each web page into this folder")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return what a command started by a test should see: the tools of this environment, and an empty memory folder."""
    commands = Path(sys.executable).parent
    return dict(os.environ) | {
        "COMMONPLACE_HOME": str(tmp_path / "home"),
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
    }


_refused: list[str] = []


def _is_here(host: object) -> bool:
    if not isinstance(host, str | bytes):
        return host is None
    name = host.decode() if isinstance(host, bytes) else host
    if name in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_the_network(event: str, args: tuple[object, ...]) -> None:
    match event, args:
        case "socket.getaddrinfo", (host, *_):
            pass
        case "socket.connect" | "socket.sendto", (_, (host, *_)):
            pass
        case _:
            return
    if not _is_here(host):
        _refused.append(f"{event} {host!r}")
        raise ConnectionRefusedError(f"tests never leave this machine, and this one wanted {host!r}")


# An audit hook sees every socket of this process, whichever library opened it through Python.
sys.addaudithook(_refuse_the_network)


@pytest.fixture(autouse=True)
def no_way_out() -> Iterator[None]:
    """Fail a test that tried to leave the machine, even if the code under test swallowed the refusal."""
    _refused.clear()
    yield
    assert not _refused


def _fail_if_needed(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Absent here is a skip that everyone sees; absent in CI is a failure, or nobody would ever run that test."""
    match report.longrepr:
        case (_, _, str(reason)) if report.skipped and reason.removeprefix("Skipped: ").startswith("needs "):
            report.outcome = "failed"
            report.longrepr = f"CI must not skip this: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if IN_CI:
        _fail_if_needed(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if IN_CI:
        _fail_if_needed(report)
    return report
