"""The async and the blocking faces, and the client of a service, are one: the same methods, the same arguments."""

import inspect
from typing import Any

import pytest

from commonplace.client import AsyncClient, RemoteSession
from commonplace.memory import AsyncMemory, AsyncSession
from commonplace.sync import Memory, Session

ONLY_ASYNC = {"aclose", "beside", "start", "stream_attachment"}
ONLY_BLOCKING = {"close"}
ONLY_HERE = {"beside", "embed", "ephemeral", "open", "restore_snapshot", "start"}
"""Ways to open a memory, because a client is opened by its address; and its embedding model, which is not served."""


def public(cls: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(cls) if not name.startswith("_")}


def arguments(method: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(method).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters if each.name not in ("self", "cls")]


@pytest.mark.parametrize(("blocking", "awaited"), [(Memory, AsyncMemory), (Session, AsyncSession)])
def test_both_faces_have_the_same_methods(blocking: type, awaited: type) -> None:
    attributes = {"id", "ttl"}  # plain attributes on one side, properties on the other
    assert public(blocking).keys() - ONLY_BLOCKING - attributes == public(awaited).keys() - ONLY_ASYNC


@pytest.mark.parametrize(("blocking", "awaited"), [(Memory, AsyncMemory), (Session, AsyncSession)])
def test_both_faces_take_the_same_arguments(blocking: type, awaited: type) -> None:
    ours = {name: arguments(method) for name, method in public(blocking).items() if callable(method)}
    theirs = {name: arguments(method) for name, method in public(awaited).items() if callable(method)}
    shared = ours.keys() & theirs.keys()
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}


@pytest.mark.parametrize("name", sorted(public(Memory).keys() - ONLY_BLOCKING - {"open", "ephemeral", "session"}))
def test_what_the_blocking_face_returns_is_what_the_other_resolves_to(name: str) -> None:
    ours, theirs = inspect.signature(public(Memory)[name]), inspect.signature(public(AsyncMemory)[name])
    assert ours.return_annotation == theirs.return_annotation


@pytest.mark.parametrize(("remote", "local"), [(AsyncClient, AsyncMemory), (RemoteSession, AsyncSession)])
def test_the_client_of_a_service_has_the_same_methods_with_the_same_arguments(remote: type, local: type) -> None:
    theirs = {name: arguments(method) for name, method in public(local).items() if callable(method)}
    ours = {name: arguments(method) for name, method in public(remote).items() if callable(method)}
    assert ours == {name: taken for name, taken in theirs.items() if name not in ONLY_HERE}


@pytest.mark.parametrize("name", sorted(public(AsyncClient).keys() - {"session"}))
def test_what_the_client_returns_is_what_the_memory_returns(name: str) -> None:
    ours, theirs = inspect.signature(public(AsyncClient)[name]), inspect.signature(public(AsyncMemory)[name])
    assert ours.return_annotation == theirs.return_annotation


def test_the_specified_methods_are_all_there() -> None:
    specified = (
        "add remember revise retract restore recall context facts history messages blocks set_block append_block "
        "delete_block session sessions profile export forget consolidate stats snapshot snapshots restore_snapshot "
        "doctor reindex migrate_embeddings open ephemeral"
    )
    assert set(specified.split()) <= public(Memory).keys()
