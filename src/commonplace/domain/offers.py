"""Attachments as they are given to `add`: parsed once at the edge.

A path is only taken as a `Path`, never as a string: what comes over a wire as JSON can then name no file of ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import LONGEST_NAME
from commonplace.domain.media import parse_type
from commonplace.domain.values import HEXADECIMAL, AttachmentId

Attachable = PathLike[str] | bytes | Mapping[str, Any]
"""A file, its bytes, or a dict: `path`, `data` or `id` (of one that is there), and `name`, `type`, `caption`."""

MOST = 20
"""Attachments of one message."""
LONGEST_CAPTION = 4_000
_SOURCES, _KEYS = ("path", "data", "id"), {"path", "data", "id", "name", "type", "caption"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Something to be attached, not looked into yet."""

    source: Path | bytes | AttachmentId
    name: str | None = None
    type: str | None = None
    caption: str = ""


def parse_offers(content: object, attachments: object) -> list[tuple[Offer, ...]]:
    """Return what each message of a content is to carry. `attachments` is for a content of one message."""
    messages = [content] if isinstance(content, (str, Mapping)) or not isinstance(content, Sequence) else content
    offers = [_of(one.get("attachments") if isinstance(one, Mapping) else None) for one in messages]
    if attachments is not None:
        if len(offers) != 1:
            raise InvalidInput(
                f"attachments: there are {len(offers)} messages; expected one, or 'attachments' in each message dict"
            )
        offers[0] = (*offers[0], *_of(attachments))
    if any(len(one) > MOST for one in offers):
        raise InvalidInput(f"attachments: expected at most {MOST} for one message")
    return offers


def parse_offer(given: object) -> Offer:
    match given:
        case bytes() | bytearray():
            return Offer(source=bytes(given))
        case PathLike():
            path = Path(fspath(given))
            return Offer(source=path, name=path.name[:LONGEST_NAME])
        case Mapping():
            return _parse_dict(given)
    raise InvalidInput(f"attachments: {_shown(given)}: expected a Path, bytes, or a dict with path, data or id")


def parse_id(value: object) -> AttachmentId:
    if not isinstance(value, str) or not HEXADECIMAL.fullmatch(value):
        raise InvalidInput(f"attachment={_shown(value)}: expected an id of 64 hexadecimal digits")
    return AttachmentId(value)


def _of(given: object) -> tuple[Offer, ...]:
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes, bytearray)):
        raise InvalidInput(f"attachments={_shown(given)}: expected a list")
    return tuple(map(parse_offer, given))


def _parse_dict(given: Mapping[Any, Any]) -> Offer:
    if unknown := set(given) - _KEYS:
        raise InvalidInput(f"attachments: unknown keys {sorted(map(str, unknown))}; expected some of {sorted(_KEYS)}")
    named = [key for key in _SOURCES if given.get(key) is not None]
    if len(named) != 1:
        raise InvalidInput(f"attachments: {_shown(dict(given))}: expected one of path, data and id")
    name, media_type, caption = given.get("name"), given.get("type"), given.get("caption")
    if name is not None and (not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME):
        raise InvalidInput(f"attachments: name={_shown(name)}: expected a string of 1 to {LONGEST_NAME:,} characters")
    if caption is not None and (not isinstance(caption, str) or len(caption) > LONGEST_CAPTION):
        raise InvalidInput(f"attachments: caption={_shown(caption)}: expected at most {LONGEST_CAPTION:,} characters")
    offer = _parse_source(named[0], given[named[0]])
    return replace(
        offer,
        name=offer.name if name is None else name,
        type=None if media_type is None else parse_type(media_type),
        caption=caption or "",
    )


def _parse_source(key: str, value: object) -> Offer:
    if key == "id":
        return Offer(source=parse_id(value))
    if key == "path" and not isinstance(value, PathLike):
        raise InvalidInput(f"attachments: path={_shown(value)}: expected a Path (a string could be anybody's)")
    if key == "data" and not isinstance(value, (bytes, bytearray)):
        raise InvalidInput(f"attachments: data={_shown(value)}: expected bytes")
    return parse_offer(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
