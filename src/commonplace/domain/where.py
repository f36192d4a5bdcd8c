"""Metadata filters: `{"topic": "work", "stars": {"$gte": 3}, "$or": [...]}` parsed once, then asked of each item.

A filter is exact and means the same on every engine, because it is evaluated here and nowhere else.
A field that is missing equals None. Numbers compare with numbers and strings with strings; anything else is no match.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never, cast

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json, Metadata

Operator = Literal["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains"]
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains")
DEEPEST = 32
"""More nesting than this is a mistake or an attack, not a filter."""


@dataclass(frozen=True, slots=True)
class Test:
    """One field compared with one value."""

    __test__ = False  # not a test case, whatever pytest thinks of the name

    path: str
    operator: Operator
    value: Json


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple["Where", ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple["Where", ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: "Where"


Where = Test | Every | Some | Not


def parse_where(value: object) -> Where | None:
    """Return the filter, or None for none. Raises InvalidInput with the part that is not understood."""
    return None if value is None else _parse(value, prefix="", depth=0)


def matches(where: Where, metadata: Metadata) -> bool:
    match where:
        case Test(path, operator, value):
            return _COMPARE[operator](_look_up(metadata, path), value)
        case Every(parts):
            return all(matches(part, metadata) for part in parts)
        case Some(parts):
            return any(matches(part, metadata) for part in parts)
        case Not(part):
            return not matches(part, metadata)
        case _:
            assert_never(where)


def _parse(value: object, *, prefix: str, depth: int) -> Where:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"where: {value!r}: expected a dict of fields and conditions")
    if depth > DEEPEST:
        raise InvalidInput(f"where: nested deeper than {DEEPEST} levels")
    return Every(tuple(_parse_item(key, part, prefix=prefix, depth=depth) for key, part in value.items()))


def _parse_item(key: object, value: object, *, prefix: str, depth: int) -> Where:
    if not isinstance(key, str) or not key:
        raise InvalidInput(f"where: {key!r}: expected a field name or an operator")
    if key in ("$and", "$or"):
        if not isinstance(value, (list, tuple)) or not value:
            raise InvalidInput(f"where: {key}: {value!r}: expected a list of at least one condition")
        parts = tuple(_parse(part, prefix=prefix, depth=depth + 1) for part in value)
        return Every(parts) if key == "$and" else Some(parts)
    if key == "$not":
        return Not(_parse(value, prefix=prefix, depth=depth + 1))
    if key.startswith("$"):
        return _parse_test(prefix, key, value)
    path = f"{prefix}.{key}" if prefix else key
    if isinstance(value, Mapping):
        return _parse(value, prefix=path, depth=depth + 1)
    return _parse_test(path, "$eq", value)


def _parse_test(path: str, operator: str, value: object) -> Test:
    if operator not in OPERATORS:
        raise InvalidInput(
            f"where: unknown operator {operator!r}; expected one of {', '.join((*OPERATORS, '$and', '$or', '$not'))}"
        )
    if not path:
        raise InvalidInput(f"where: {operator}: belongs under a field, e.g. {{'stars': {{{operator!r}: 3}}}}")
    plain = _plain(value)
    if operator in ("$in", "$nin") and not isinstance(plain, list):
        raise InvalidInput(f"where: {operator}: {value!r}: expected a list")
    if operator in ("$gt", "$gte", "$lt", "$lte") and not (_is_number(plain) or isinstance(plain, str)):
        raise InvalidInput(f"where: {operator}: {value!r}: expected a number or a string")
    return Test(path, cast(Operator, operator), plain)


def _plain(value: object) -> Json:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    raise InvalidInput(f"where: {value!r}: expected a string, a finite number, a bool, None, or a list of them")


def _look_up(metadata: Metadata, path: str) -> Json:
    """Return the field at a dotted path; a field whose own name has dots wins over a path into objects."""
    if path in metadata:
        return metadata[path]
    head, _, rest = path.partition(".")
    while rest:
        inner = metadata.get(head)
        if isinstance(inner, dict):
            return _look_up(inner, rest)
        step, _, rest = rest.partition(".")
        head = f"{head}.{step}"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _equal(left: Json, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return left == right


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Json, Json], bool]:
    def test(left: Json, right: Json) -> bool:
        alike = (_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str))
        return alike and compare(cast(float, left), cast(float, right))

    return test


def _contains(field: Json, value: Json) -> bool:
    if isinstance(field, list):
        return any(_equal(part, value) for part in field)
    return isinstance(field, str) and isinstance(value, str) and value in field


def _among(field: Json, values: Json) -> bool:
    return any(_equal(field, value) for value in cast(list[Json], values))


_COMPARE: Mapping[Operator, Callable[[Json, Json], bool]] = {
    "$eq": _equal,
    "$ne": lambda field, value: not _equal(field, value),
    "$gt": _ordered(lambda left, right: left > right),
    "$gte": _ordered(lambda left, right: left >= right),
    "$lt": _ordered(lambda left, right: left < right),
    "$lte": _ordered(lambda left, right: left <= right),
    "$in": _among,
    "$nin": lambda field, values: not _among(field, values),
    "$contains": _contains,
}
