"""Whose memory a call of mem0 is about, and which of it. No filter reaches what another owner has.

mem0 finds a memory by its id alone; here everything belongs to somebody, so the ids that are handed out name the owner.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from commonplace.domain.errors import InvalidInput

IDENTITY = ("user_id", "agent_id", "run_id")
OPERATORS = {name: f"${name}" for name in ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains")}


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner, as our user; and the agent and run beside it, which are kept as metadata."""

    owner: str
    beside: Mapping[str, str]


def scope_of(given: Mapping[str, object]) -> Scope:
    """Return the scope of `user_id`, `agent_id`, `run_id`: the first that is given owns the memory.

    mem0's ids have no spaces in them, so that the owner "agent a1" cannot be a user's id.
    """
    ids = {name: _identity(name, given[name]) for name in IDENTITY if given.get(name) is not None}
    if not ids:
        raise InvalidInput(f"expected at least one of {', '.join(IDENTITY)}, e.g. filters={{'user_id': 'u1'}}")
    first = next(iter(ids))
    owner = ids[first] if first == "user_id" else f"{first.removesuffix('_id')} {ids[first]}"
    return Scope(owner, {name: value for name, value in ids.items() if name != "user_id"})


def identity_of(owner: str) -> dict[str, str]:
    """Return the id that mem0 knows an owner by."""
    kind, space, name = owner.partition(" ")
    return {f"{kind}_id": name} if space else {"user_id": owner}


def _identity(name: str, value: object) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise InvalidInput(f"{name}={value!r}: expected a string")
    trimmed = str(value).strip()
    if not trimmed or any(character.isspace() for character in trimmed):
        raise InvalidInput(f"{name}={value!r}: expected a string without spaces, and not an empty one")
    if trimmed == "*":
        raise InvalidInput(f"{name}='*': expected the id of one; nobody can ask for everybody's memories")
    return trimmed


def asked(filters: Mapping[str, object] | None, ids: Mapping[str, object]) -> tuple[Scope, dict[str, Any]]:
    """Return the scope, and our `where`, of a search. The ids may stand in the filters, or beside them."""
    given = dict(filters or {})
    for name in IDENTITY:
        if name in ids and given.setdefault(name, ids[name]) != ids[name]:
            raise InvalidInput(f"{name}={ids[name]!r}: the filters say {given[name]!r}; expected one of them")
    scope = scope_of(given)
    rest = {name: value for name, value in given.items() if name not in IDENTITY}
    return scope, {"$and": [dict(scope.beside), _where(rest)]}


def _where(filters: object) -> dict[str, Any]:
    if not isinstance(filters, Mapping):
        raise InvalidInput(f"filters: {filters!r}: expected a dict")
    return {"$and": [_condition(name, value) for name, value in filters.items()]} if filters else {}


def _condition(name: object, value: object) -> dict[str, Any]:
    if name in IDENTITY:
        raise InvalidInput(f"filters: {name} inside AND, OR or NOT: expected at the top")
    if name in ("AND", "OR", "NOT"):
        if not isinstance(value, list) or not value:
            raise InvalidInput(f"filters: {name}: {value!r}: expected a list of at least one condition")
        parts = [_where(part) for part in value]
        return {"$not": {"$or": parts}} if name == "NOT" else {f"${str(name).lower()}": parts}
    if isinstance(value, Mapping):
        return {str(name): {_operator(name, key): part for key, part in value.items()}}
    return {str(name): {"$ne": None} if value == "*" else {"$eq": value}}


def _operator(name: object, key: object) -> str:
    if key not in OPERATORS:
        raise InvalidInput(f"filters: {name}: unknown operator {key!r}; expected one of {', '.join(OPERATORS)}")
    return OPERATORS[str(key)]


def memory_id(fact: str, owner: str) -> str:
    return f"{fact}@{quote(owner, safe='')}"


def parse_memory_id(value: object) -> tuple[str, str]:
    """Return the fact and its owner."""
    fact, at, owner = value.partition("@") if isinstance(value, str) else ("", "", "")
    if not (fact and at and owner):
        raise InvalidInput(f"memory_id={value!r}: expected an id that add, search or get_all returned")
    return fact, unquote(owner)
