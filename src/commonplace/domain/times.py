"""Moments: aware datetimes outside, whole microseconds since 1970 (UTC) inside, so that every store compares alike."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from commonplace.domain.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
FOREVER = 2**63 - 1
"""Stands for an open end where a number is needed; -FOREVER for an open start."""


def to_micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def parse_moment(value: object, *, name: str) -> datetime:
    """Return an aware datetime in UTC. Takes one, or an ISO 8601 string with an offset. Refuses everything else."""
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(
                f"{name}={value!r}: expected an ISO 8601 moment like 2026-05-12T09:30:00+00:00"
            ) from None
    if not isinstance(moment, datetime):
        raise InvalidInput(f"{name}={value!r}: expected an aware datetime or an ISO 8601 string")
    if moment.utcoffset() is None:
        raise InvalidInput(f"{name}={value!r}: has no time zone; add one, e.g. datetime.now(UTC) or a trailing +00:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{name}={value!r}: outside the years 1 to 9999 in UTC") from None


def parse_optional_moment(value: object, *, name: str) -> datetime | None:
    return None if value is None else parse_moment(value, name=name)


Expiry = datetime | Literal["never"] | None
"""When something is to expire: None leaves it as it is."""


def parse_expiry(value: object, *, name: str) -> Expiry:
    return "never" if value == "never" else parse_optional_moment(value, name=name)


def parse_last_day(value: object, *, name: str) -> datetime | None:
    """Return when the last day of something is over, in UTC. Takes a date, or an ISO 8601 string of one."""
    try:
        last = value if isinstance(value, date | None) else date.fromisoformat(str(value))
    except ValueError as error:
        raise InvalidInput(f"{name}={value!r}: expected YYYY-MM-DD") from error
    return None if last is None else datetime.combine(last, time(), UTC) + timedelta(days=1)


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day(moment: datetime) -> str:
    """Return a day as people write it, in English whatever the locale is: 12 May 2026."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
