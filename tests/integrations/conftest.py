"""What every integration's example is run with."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integrations.examples import Run, Staging, staged


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Staging]:
    with ExitStack() as stages:

        def start(name: str, environment: dict[str, str]) -> Run:
            return stages.enter_context(staged(name, environment, tmp_path))

        yield start
