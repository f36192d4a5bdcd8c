"""Values as JSON and back: the one form they have on the command line, over HTTP and in the client.

A value of a type that is not named here has no form; guessing one would be a form that nobody can rely on.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from os import PathLike
from types import NoneType, UnionType
from typing import Any, Literal, NewType, TypeVar, Union, cast, get_args, get_origin

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json

T = TypeVar("T")


def as_json(value: object) -> Json:
    """Return what JSON can hold: values as objects, moments as ISO 8601 strings."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(key): as_json(item) for key, item in value.items()}
        case PathLike():
            return str(value)
        case _ if is_dataclass(value):
            return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
        case list() | tuple() | set() | frozenset():
            return [as_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def encoded(value: object) -> bytes:
    """Return its JSON, always the same for the same value."""
    plain = as_json(value)
    try:
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can hold
        return json.dumps(plain, separators=(",", ":")).encode()


def etag_of(value: object) -> str:
    """Return what tells a value from what it was before: an ETag, made alike by a service and its client."""
    return f'"{hashlib.sha256(encoded(value)).hexdigest()[:32]}"'


def from_json(kind: type[T], value: object) -> T:
    """Return the value of that kind that `as_json` made this of. Raises InvalidInput if it cannot be that."""
    return cast(T, _read(kind, value))


@cache
def hints_of(kind: type) -> Mapping[str, Any]:
    """Return the types of a value's fields, as they were written: to resolve names in them would never end for Json."""
    return {field.name: field.type for field in fields(kind)}


def _read(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if isinstance(kind, NewType):
        return value
    if kind is datetime:
        return datetime.fromisoformat(value)
    if is_dataclass(kind):
        return _read_dataclass(cast(type, kind), value)
    if origin in (Union, UnionType):
        return _read_union(get_args(kind), value)
    if origin is not None and origin is not Literal and issubclass(origin, Sequence):
        return _read_sequence(origin, get_args(kind), value)
    if origin is not None and origin is not Literal and issubclass(origin, Mapping):
        (_, inner) = get_args(kind)
        return {key: _read(inner, item) for key, item in _object(value).items()}
    return value


def _read_dataclass(kind: type, value: object) -> object:
    given, hints = _object(value), hints_of(kind)
    known = {field.name: _read(hints[field.name], given[field.name]) for field in fields(kind) if field.name in given}
    return kind(**known)


def _read_union(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    return _read(others[0], value) if len(others) == 1 else value  # a union of plain JSON is what it is


def _read_sequence(origin: type, kinds: tuple[Any, ...], value: object) -> object:
    if not isinstance(value, list):
        raise InvalidInput(f"{value!r}: expected a list")
    if origin is tuple and len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_read(kinds[0], item) for item in value)
    if origin is tuple:
        return tuple(_read(kind, item) for kind, item in zip(kinds, value, strict=True))
    return [_read(kinds[0], item) for item in value]


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{value!r}: expected an object")
    return value
