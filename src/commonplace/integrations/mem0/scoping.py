"""Whose memory a call of mem0 is about, and which of it. No filter reaches what another owner has."""

import re
from collections.abc import Mapping
from typing import Any, TypedDict

from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import parse_metadata
from commonplace.domain.values import Json

IDENTITY = ("user_id", "agent_id", "run_id")
ONE = re.compile(r"(?!\*$)\S+")
Scope = tuple[str, dict[str, str]]
"""The owner, as our user; and the agent and run beside it, which are kept as metadata."""


class Whose(TypedDict, total=False):
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    filters: Mapping[str, Any] | None


def scope_of(given: Mapping[str, object]) -> Scope:
    """Return the scope of the ids: the first that is given owns the memory.

    mem0's ids have no spaces in them, so that the owner "agent a1" cannot be a user's id.
    """
    ids = {name: _one(name, given[name]) for name in IDENTITY if given.get(name) is not None}
    if not ids:
        raise InvalidInput(f"expected at least one of {', '.join(IDENTITY)}, e.g. filters={{'user_id': 'u1'}}")
    first = next(iter(ids))
    owner = ids[first] if first == "user_id" else f"{first.removesuffix('_id')} {ids[first]}"
    return owner, {name: value for name, value in ids.items() if name != "user_id"}


def _one(name: str, value: object) -> str:
    one = str(value).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    if not ONE.fullmatch(one):
        raise InvalidInput(f"{name}={value!r}: expected the id of one, without spaces; nobody can ask for everybody's")
    return one


def identity_of(owner: str) -> dict[str, str]:
    """Return the id that mem0 knows an owner by."""
    kind, space, name = owner.partition(" ")
    return {f"{kind}_id": name} if space else {"user_id": owner}


def without_identity(metadata: Mapping[str, Json] | None) -> dict[str, Json]:
    """Metadata cannot move a memory to another owner, as in mem0."""
    return {name: value for name, value in parse_metadata(metadata).items() if name not in IDENTITY}


def asked(method: str, whose: Whose) -> tuple[Scope, dict[str, Any]]:
    """Return the scope, and our `where`. The ids may stand in the filters, or beside them."""
    given: dict[str, Any] = {**whose}
    filters = dict(given.pop("filters", None) or {})
    for name, value in given.items():
        if name not in IDENTITY and value:
            raise InvalidInput(f"{method}({name}=…): not supported; docs/integrations-mem0.md says what is")
        if name in IDENTITY and value is not None and filters.setdefault(name, value) != value:
            raise InvalidInput(f"{name}={value!r}: the filters say {filters[name]!r}; expected one of them")
    owner, beside = scope_of(filters)
    rest = {name: value for name, value in filters.items() if name not in IDENTITY}
    return (owner, beside), {"$and": [beside, _where(rest)]}


def _where(filters: object) -> Any:
    """Return mem0's filters in our words. What makes no sense in them is left for the engine to refuse."""
    return dict(_condition(*one) for one in filters.items()) if isinstance(filters, Mapping) else filters


def _condition(name: str, value: object) -> tuple[str, Any]:
    if name in IDENTITY:
        raise InvalidInput(f"filters: {name} inside AND, OR or NOT: expected at the top")
    if name in ("AND", "OR", "NOT"):
        parts = [_where(part) for part in value] if isinstance(value, list) else value
        return ("$not", {"$or": parts}) if name == "NOT" else (f"${name.lower()}", parts)
    tests = value if isinstance(value, Mapping) else {"ne": None} if value == "*" else {"eq": value}
    return name, {f"${operator}": part for operator, part in tests.items()}
