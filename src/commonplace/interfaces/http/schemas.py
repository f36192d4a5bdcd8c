"""JSON schemas of what calls return, read off the values themselves, so that OpenAPI cannot drift from them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin

from commonplace.domain.plain import hints_of

Schema = dict[str, Any]
PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    NoneType: {"type": "null"},
}


def schema_of(kind: Any, known: dict[str, Schema]) -> Schema:
    """Return the schema of a type; what is a value of its own goes to `known`, under its name."""
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, NewType):
        return schema_of(kind.__supertype__, known)
    if kind in PLAIN:
        return PLAIN[kind]
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind, known)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return _union(inner, known)
    return {} if origin is None else _generic(origin, inner, known)


def _generic(origin: type, inner: tuple[Any, ...], known: dict[str, Schema]) -> Schema:
    if is_dataclass(origin):
        return _object(origin, known, name=f"{origin.__name__}Of{inner[0].__name__}", of=inner[0])
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1], known)}
    if issubclass(origin, Sequence):
        return {"type": "array", "items": schema_of(inner[0], known)} if _alike(inner) else {"type": "array"}
    return {}


def _alike(inner: tuple[Any, ...]) -> bool:
    return len(inner) == 1 or inner[1] is Ellipsis


def _union(kinds: tuple[Any, ...], known: dict[str, Schema]) -> Schema:
    if len(kinds) > 3:  # whatever JSON can hold
        return {}
    return {"anyOf": [schema_of(kind, known) for kind in kinds]}


def _object(kind: type, known: dict[str, Schema], *, name: str = "", of: Any = None) -> Schema:
    """Return a reference to the schema of a value; `of` is what stands for its type variable, if it has one."""
    name = name or kind.__name__
    if name not in known:
        known[name] = {}  # its own fields may name it
        hints = hints_of(kind)
        named = [field.name for field in fields(kind)]
        known[name] = {
            "type": "object",
            "description": (kind.__doc__ or name).partition("\n")[0],
            "properties": {field: schema_of(_filled(hints[field], of), known) for field in named},
            "required": named,
            "additionalProperties": False,
        }
    return {"$ref": f"#/components/schemas/{name}"}


def _filled(hint: Any, of: Any) -> Any:
    return hint[of] if of is not None and hasattr(hint, "__parameters__") and hint.__parameters__ else hint


PROBLEM: Schema = {
    "type": "object",
    "description": "What went wrong (RFC 9457).",
    "properties": {
        "type": {"type": "string", "description": "A name for the kind of problem."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was wrong with this request, and what was expected."},
        "error": {"type": "string", "description": "The name of the error in Python."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"where": {"type": "string"}, "message": {"type": "string"}},
                "required": ["where", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "error"],
}
