"""Every error as problem+json (RFC 9457), and the one table from errors to status codes."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi.responses import Response

from commonplace.domain.errors import (
    Closed,
    CommonplaceError,
    Conflict,
    Incompatible,
    InvalidInput,
    LedgerCorrupt,
    NotBuiltYet,
    NotFound,
    OnHold,
    SnapshotCorrupt,
    Unavailable,
    UnreadableReply,
)
from commonplace.interfaces.http.access import Forbidden, Unauthenticated

MEDIA_TYPE = "application/problem+json"


class ChangedMeanwhile(Conflict):
    """What If-Match names is not what is there now."""


class TooMany(CommonplaceError):
    """The key has asked too often."""


class TooLarge(CommonplaceError):
    """The body of the request is longer than this service takes."""


class TooSlow(CommonplaceError):
    """The request took longer than this service gives it."""


class NotServed(CommonplaceError):
    """The path is not one of this service."""


class WrongMethod(CommonplaceError):
    """The path is there, and not for that method."""


STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotServed, 404),
    (NotFound, 404),
    (WrongMethod, 405),
    (ChangedMeanwhile, 412),
    (Conflict, 409),
    (OnHold, 409),
    (TooLarge, 413),
    (InvalidInput, 422),
    (TooMany, 429),
    (NotBuiltYet, 501),
    (UnreadableReply, 502),
    (TooSlow, 503),
    (Unavailable, 503),
    (Closed, 503),
    (Incompatible, 503),
    (LedgerCorrupt, 503),
    (SnapshotCorrupt, 503),
)


def status_of(error: Exception) -> int:
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def problem(
    status: int,
    error: str,
    detail: str,
    *,
    request_id: str | None = None,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    content: dict[str, object] = {
        "type": f"urn:commonplace:{error}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "error": error,
    }
    if request_id is not None:
        content["request_id"] = request_id
    if errors:
        content["errors"] = list(errors)
    return Response(json.dumps(content).encode(), status_code=status, headers=headers, media_type=MEDIA_TYPE)


def problem_of(
    error: Exception, *, request_id: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that failed. What is no error of ours is said without its words."""
    status, more = status_of(error), dict(headers or {})
    if status == 401:
        more.setdefault("WWW-Authenticate", 'Bearer realm="commonplace"')
    if isinstance(error, (Unavailable, TooSlow)):
        more.setdefault("Retry-After", "1")
    if status == 500:
        detail = "something went wrong here, and was written to the log with this request_id"
        return problem(500, "InternalError", detail, request_id=request_id, headers=more)
    return problem(status, type(error).__name__, str(error), request_id=request_id, headers=more)
