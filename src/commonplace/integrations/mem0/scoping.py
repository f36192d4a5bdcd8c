"""Whose memory a call of mem0 is about, and which of it. No filter reaches what another owner has.

mem0 finds a memory by its id alone; here everything belongs to somebody, so the ids that are handed out name the owner.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from commonplace.domain.errors import InvalidInput

IDENTITY = ("user_id", "agent_id", "run_id")
OPERATORS = {name: f"${name}" for name in ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains")}
ONE = re.compile(r"(?!\*$)\S+")


class Scope(NamedTuple):
    """The owner, as our user; and the agent and run beside it, which are kept as metadata."""

    owner: str
    beside: Mapping[str, str]


def scope_of(given: Mapping[str, object]) -> Scope:
    """Return the scope of the ids: the first that is given owns the memory.

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
    one = str(value).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    if not ONE.fullmatch(one):
        raise InvalidInput(f"{name}={value!r}: expected the id of one, without spaces; nobody can ask for everybody's")
    return one


def asked(filters: Mapping[str, object] | None, ids: Mapping[str, object]) -> tuple[Scope, dict[str, Any]]:
    """Return the scope, and our `where`, of a search. The ids may stand in the filters, or beside them."""
    given = dict(filters or {})
    for name, value in ids.items():
        if given.setdefault(name, value) != value:
            raise InvalidInput(f"{name}={value!r}: the filters say {given[name]!r}; expected one of them")
    scope = scope_of(given)
    return scope, {"$and": [dict(scope.beside), _where({key: given[key] for key in given if key not in IDENTITY})]}


def _where(filters: object) -> dict[str, Any]:
    if not isinstance(filters, Mapping):
        raise InvalidInput(f"filters: {filters!r}: expected a dict")
    return {"$and": [_condition(name, value) for name, value in filters.items()]} if filters else {}


def _condition(name: str, value: object) -> dict[str, Any]:
    if name in IDENTITY:
        raise InvalidInput(f"filters: {name} inside AND, OR or NOT: expected at the top")
    if name in ("AND", "OR", "NOT"):
        if not isinstance(value, list) or not value:
            raise InvalidInput(f"filters: {name}: {value!r}: expected a list of at least one condition")
        parts = [_where(part) for part in value]
        return {"$not": {"$or": parts}} if name == "NOT" else {f"${name.lower()}": parts}
    tests = value if isinstance(value, Mapping) else {"ne": None} if value == "*" else {"eq": value}
    if unknown := [key for key in tests if key not in OPERATORS]:
        raise InvalidInput(f"filters: {name}: unknown operator {unknown[0]!r}; expected one of {', '.join(OPERATORS)}")
    return {name: {OPERATORS[key]: part for key, part in tests.items()}}


def memory_id(fact: str, owner: str) -> str:
    return f"{fact}@{quote(owner, safe='')}"


def parse_memory_id(value: object) -> tuple[str, str]:
    """Return the fact and its owner."""
    fact, _, owner = value.partition("@") if isinstance(value, str) else ("", "", "")
    if not (fact and owner):
        raise InvalidInput(f"memory_id={value!r}: expected an id that add, search or get_all returned")
    return fact, unquote(owner)
