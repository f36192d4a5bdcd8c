"""No test asks a real model: requests are refused by pydantic-ai, except of a model that a test runs on loopback."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from pydantic_ai import models

from tests.learning.scripted_model import Script, ScriptedModel, serving

models.ALLOW_MODEL_REQUESTS = False


@pytest.fixture
def may_ask() -> Iterator[None]:
    """Let a test ask a model. Whatever it asks, no socket leaves the machine: tests/conftest.py sees to that."""
    with models.override_allow_model_requests(True):
        yield


class Serve:
    """Start scripted models, for the length of a test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, answer: Script) -> ScriptedModel:
        return self._stack.enter_context(serving(answer))


@pytest.fixture
def serve(may_ask: None) -> Iterator[Serve]:
    with ExitStack() as stack:
        yield Serve(stack)
