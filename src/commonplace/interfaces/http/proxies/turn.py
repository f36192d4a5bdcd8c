"""One turn of a conversation, as a proxy understands it: what was said, by whom, and how the answer is read.

A request that cannot be understood is no turn: it is passed on as it is, and the service behind says what is wrong.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Object = Mapping[str, Any]
TEXTS = ("text", "input_text", "output_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    body: Object
    said: str
    """The last thing that the user said; empty where it was no text."""
    fresh: bool
    """Whether it was said just now, and not before tools were called."""
    thread: str
    """A digest of the conversation up to what was said: a request that is sent again has the same."""
    user: str | None
    """Who it is, as the fields of the request name them."""
    model: str


class Hearing(Protocol):
    """Reads along while an answer streams by."""

    complete: bool
    id: str
    """Of the answer, where one can go on with it; empty elsewhere."""

    def event(self, data: str) -> None:
        """Take the data of one event. What cannot be read is left alone."""

    def text(self) -> str: ...


def _none(answer: Object) -> str:
    return ""


def _nothing(asked: Object) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How one service puts turns and answers."""

    name: str
    read: Callable[[bytes], Turn | None]
    with_memory: Callable[[Turn, str], Object]
    reply_of: Callable[[Object], str]
    hearing: Callable[[], Hearing]
    id_of: Callable[[Object], str] = _none
    """The id of an answer that a later request can go on with."""
    previous_of: Callable[[Object], Sequence[str]] = _nothing
    """The ids of earlier answers that a request goes on with."""


def object_of(data: bytes | str) -> Object | None:
    """Return the JSON object that this is; None where it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def objects_of(value: object) -> list[Object]:
    """Return the objects of a list; none where it is no list of them."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return value


def text_of(content: object) -> str:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    return "\n".join(_texts(objects_of(content)))


def _texts(parts: Iterable[Object]) -> Iterable[str]:
    for part in parts:
        if part.get("type") in TEXTS and isinstance(part.get("text"), str):
            yield part["text"]


def thread_of(messages: Sequence[Object]) -> str:
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def name_of(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
