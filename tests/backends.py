"""The engines that a memory can stand on, and the fixture that puts a test on them.

A test, or a module by `pytestmark`, that is marked `backends` runs once on each, unless it asks for no `backend`. It
opens its memory at `**backend.at(folder)`; what it names itself besides, such as an index, is what it gets. What is
opened once for all tests of a file stands on the `shared_backend`.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import pytest

from commonplace.ports.ledger import Ledger
from commonplace.settings import Settings
from commonplace.wiring.ledgers import open_ledger
from tests.servers import database_of, run_sql


@dataclass(frozen=True, slots=True)
class Engines:
    ledger: Literal["sqlite", "postgres"] = "sqlite"
    index: Literal["exact", "chroma", "chroma server", "pgvector"] = "exact"
    sessions: Literal["ledger", "redis"] = "ledger"

    def __str__(self) -> str:
        return f"{self.ledger}+{self.index}+{self.sessions}".replace(" ", "-")


LEDGERS = (Engines(), Engines("postgres", "exact", "redis"))
PAIRWISE = (
    *LEDGERS,
    Engines("sqlite", "chroma", "redis"),
    Engines("sqlite", "chroma server", "ledger"),
    Engines("postgres", "chroma", "ledger"),
    Engines("postgres", "chroma server", "redis"),
    Engines("sqlite", "pgvector", "redis"),
    Engines("postgres", "pgvector", "ledger"),
)
"""Every two engines of different kinds meet in one of them."""

SERVERS = tuple(engines for engines in PAIRWISE if engines.index in ("chroma server", "pgvector"))
"""Those whose index any number of processes may use at once."""

INDEXED = tuple(engines for engines in PAIRWISE if engines.index != "exact")
"""Those with an index beside the ledger."""

_CHOICES = {
    "files": (Engines(),),
    "ledgers": LEDGERS,
    "pairwise": PAIRWISE,
    "indexed": INDEXED,
    "servers": SERVERS,
}


@dataclass(slots=True)
class Backend:
    engines: Engines
    new_database: Callable[[], str]
    settings: dict[str, Any] = field(default_factory=dict)
    _databases: dict[Path, str] = field(default_factory=dict)

    @property
    def ledger(self) -> str:
        return self.engines.ledger

    def at(self, folder: Path) -> dict[str, Any]:
        """Return the settings of a memory there: one folder is one memory, wherever its ledger is."""
        if self.engines.ledger == "sqlite":
            return {"home": folder, **self.settings}
        if folder not in self._databases:
            self._databases[folder] = self.new_database()
        return {"home": folder, "database_url": self._databases[folder], **self.settings}

    def variables(self, folder: Path, **more: object) -> dict[str, str]:
        """Return the same for the environment of a command."""
        return {f"COMMONPLACE_{name.upper()}": str(value) for name, value in {**self.at(folder), **more}.items()}

    def named(self, folder: Path) -> str | Path:
        """Return what names the memory there where one argument has to: the URL of its database, or its folder."""
        url: str | None = self.at(folder).get("database_url")
        return url or folder

    def open_ledger(self, folder: Path) -> AbstractAsyncContextManager[Ledger]:
        return open_ledger(Settings.from_sources(**self.at(folder)), in_process=False)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The engines that the test's parameter names; without one, those that are there by default."""
    # Most tests have but one memory, and to empty a database is faster than to make one.
    yield from _standing(request, first=lambda: str(request.getfixturevalue("postgres_emptied")))


@pytest.fixture(scope="module")
def shared_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The same for all tests of a file, with databases of its own."""
    yield from _standing(request)


def _standing(request: pytest.FixtureRequest, *, first: Callable[[], str] | None = None) -> Iterator[Backend]:
    """Yield a place on the engines of the parameter. `first` names the first database, which is not dropped then."""
    engines: Engines = getattr(request, "param", Engines())
    ready = [] if first is None else [first]
    made: list[str] = []

    def new_database() -> str:
        if ready:
            return ready.pop()()
        url: str = request.getfixturevalue("postgres_url")
        made.append(f"test_{uuid4().hex}")
        run_sql(url, f"create database {made[-1]} template template_of_tests owner app")
        return database_of(url, made[-1], user="app")

    settings: dict[str, Any] = {"index": "chroma" if engines.index == "chroma server" else engines.index}
    if (engines.ledger, engines.index) == ("sqlite", "pgvector"):
        settings["pgvector_url"] = new_database()
    if engines.index == "chroma server":
        settings["chroma_url"] = request.getfixturevalue("chroma_url")
    if engines.sessions == "redis":
        settings["redis_url"] = request.getfixturevalue("redis_url")
    yield Backend(engines, new_database, settings)
    for name in made:
        run_sql(request.getfixturevalue("postgres_url"), f"drop database {name} with (force)")


def put_on_backends(metafunc: pytest.Metafunc) -> None:
    """Run a marked test on each of the engines that its mark names."""
    mark = metafunc.definition.get_closest_marker("backends")
    for asked in ("backend", "shared_backend"):
        if mark is not None and asked in metafunc.fixturenames:
            metafunc.parametrize(asked, _CHOICES[mark.args[0]], indirect=True, ids=str)
