"""What every integration's example is run with, and a memory for the rest of its tests."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from commonplace import Memory
from tests.integrations.examples import Run, Staging, staged


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Staging]:
    with ExitStack() as stages:

        def start(name: str, environment: dict[str, str]) -> Run:
            return stages.enter_context(staged(name, environment, tmp_path))

        yield start


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.ephemeral() as memory:
        yield memory
