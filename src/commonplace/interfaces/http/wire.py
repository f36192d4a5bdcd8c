"""Between routes and the wire: answers as JSON, bodies that take only what they name, and how both are described.

Answers are made by `as_json` from the values themselves; FastAPI is only told what they look like.
"""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.convertors import Convertor, register_url_convertor

from commonplace.domain.plain import encoded
from commonplace.interfaces.http.schemas import PROBLEM, Schema, schema_of

COMPONENTS: dict[str, Schema] = {"Problem": PROBLEM}
"""Every value that an answer is made of, by name."""

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-05-12T09:30:00+00:00"])]
Metadata = Annotated[dict[str, Any], Field(examples=[{"topic": "work", "stars": 4}])]
Name = Annotated[str, Field(min_length=1, max_length=1_000)]
User = Annotated[
    Name | None,
    Field(description="Whose memory. None: the anonymous user, or the key's own.", examples=["ana"]),
]
UserQuery = Annotated[
    Name | None, Query(alias="user", description="Whose memory. Without it: the anonymous user, or the key's own.")
]
Cursor = Annotated[str | None, Query(description="The next_cursor of the page before.")]
Limit = Annotated[int, Query(ge=1, le=10_000, description="At most so many.")]


class Body(BaseModel):
    """A body that takes nothing but what it names, and guesses no types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Segment(Convertor[str]):
    """One segment of a path, decoded once: an encoded slash is part of a name, never of the path."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value, errors="surrogateescape")

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("segment", Segment())


def reply(value: object, status: int = 200, *, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encoded(value), status_code=status, headers=headers, media_type="application/json")


def described(kind: Any, *, status: int = 200, what: str = "Done.", example: object = None) -> dict[int | str, Schema]:
    """Return what OpenAPI says of an answer of that kind."""
    content: Schema = {"schema": schema_of(kind, COMPONENTS)}
    if example is not None:
        content["example"] = example
    return {status: {"description": what, "content": {"application/json": content}}}


EVENTS: Schema = {
    "schema": {
        "type": "object",
        "properties": {"event": {"type": "string"}, "data": {"type": "string", "description": "JSON."}},
        "required": ["event", "data"],
    }
}
"""Server-sent events, one by one."""


def stream_described(what: str) -> dict[int | str, Schema]:
    return {200: {"description": what, "content": {"text/event-stream": EVENTS}}}


def _refusal(what: str) -> Schema:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {"description": what, "content": {"application/problem+json": problem}}


REFUSALS: dict[int | str, Schema] = {
    401: _refusal("No key, or one that opens nothing."),
    403: _refusal("The key does not open that: another user, or a role that it does not have."),
    404: _refusal("There is no such thing in this user's memory."),
    409: _refusal("Somebody else changed it first, or a request with this Idempotency-Key is being worked on."),
    412: _refusal("What If-Match names is not what is there now."),
    413: _refusal("The request is too large."),
    422: _refusal("Something in the request is wrong: the detail names the value and what was expected."),
    429: _refusal("The key has asked too often."),
    501: _refusal("Specified, but not in this version, or not set up here."),
    502: _refusal("The language model's answer could not be read."),
    503: _refusal("A part did not answer, or the request took too long: trying again may help."),
}
"""What any request may be answered with instead."""
