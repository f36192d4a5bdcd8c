"""A scripted model service, and leave to ask it: nothing else can be reached from a test."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from pydantic_ai import models

from tests.agents.wire import Script, Service, from_memory, service

models.ALLOW_MODEL_REQUESTS = False


class Serve:
    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, script: Script = from_memory) -> Service:
        return self._stack.enter_context(service(script))


@pytest.fixture
def serve() -> Iterator[Serve]:
    with models.override_allow_model_requests(True), ExitStack() as stack:
        yield Serve(stack)
