"""Frozen dataclasses as JSON objects, and back, by the types of their fields.

Fields that are not known are ignored, so that an older program reads a newer file. A field without a default must be
there, and every value must be of its declared type: a file comes from anywhere.
"""

import base64
import binascii
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from commonplace.domain.errors import InvalidInput
from commonplace.domain.times import parse_moment
from commonplace.domain.values import Json

T = TypeVar("T")


def encoded(value: object) -> Json:
    """Return what JSON can hold: bytes in base64, moments in ISO 8601, a dataclass as an object of its fields."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): encoded(item) for key, item in value.items()}
        case list() | tuple():
            return [encoded(item) for item in value]
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return {field.name: encoded(getattr(value, field.name)) for field in fields(value)}


def decoded(kind: type[T], value: object, *, name: str) -> T:
    """Return the dataclass of a JSON object. Raises InvalidInput that names the field."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name}={_shown(value)}: expected an object")
    given: dict[str, object] = {}
    for field, hint in _hints(cast(Hashable, kind)):
        if field.name in value:
            given[field.name] = _value(hint, value[field.name], name=field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput(f"{name}: has no {field.name}")
    return kind(**given)


@cache
def _hints(kind: Hashable) -> tuple[tuple[Field[Any], Any], ...]:
    cls = cast(type[Any], kind)
    hints = get_type_hints(cls)
    return tuple((field, hints[field.name]) for field in fields(cls))


def _value(hint: Any, value: object, *, name: str) -> object:
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        return _optional(hint, value, name=name)
    if origin is Literal:
        if value not in get_args(hint):
            raise InvalidInput(f"{name}={_shown(value)}: expected one of {', '.join(map(str, get_args(hint)))}")
        return value
    if origin is tuple:
        return tuple(_value(get_args(hint)[0], item, name=name) for item in _list(value, name=name))
    if origin is not None:
        return _mapping(hint, value, name=name)
    if is_dataclass(hint):
        return decoded(cast(type[object], hint), value, name=name)
    return _plain(hint, value, name=name)


def _optional(hint: Any, value: object, *, name: str) -> object:
    """Read `X | None`, or the union that is `Json`, which is whatever JSON holds."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    if value is None or len(kinds) > 1:
        return value
    return _value(kinds[0], value, name=name)


def _mapping(hint: Any, value: object, *, name: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name}={_shown(value)}: expected an object")
    _, of = get_args(hint)
    return {key: _value(of, item, name=f"{name}.{key}") for key, item in value.items()}


def _list(value: object, *, name: str) -> list[object]:
    if not isinstance(value, list):
        raise InvalidInput(f"{name}={_shown(value)}: expected a list")
    return value


def _plain(kind: type, value: object, *, name: str) -> object:
    if kind is datetime:
        return parse_moment(value, name=name)
    if kind is date:
        return _date(value, name=name)
    if kind is bytes:
        return _bytes(value, name=name)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or value != value:
        raise InvalidInput(f"{name}={_shown(value)}: expected {kind.__name__}")
    return value


def _date(value: object, *, name: str) -> date:
    try:
        return date.fromisoformat(cast(str, value))
    except (TypeError, ValueError):
        raise InvalidInput(f"{name}={_shown(value)}: expected a day like 2026-05-12") from None


def _bytes(value: object, *, name: str) -> bytes:
    try:
        return base64.b64decode(cast(str, value), validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidInput(f"{name}={_shown(value)}: expected base64") from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
