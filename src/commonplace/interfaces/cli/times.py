"""Moments as people type and read them: in the time zone of this machine."""

from datetime import datetime, timedelta

from commonplace.domain.errors import InvalidInput

WORDS = {"now": timedelta(), "yesterday": timedelta(days=1), "tomorrow": timedelta(days=-1)}


def local_now() -> datetime:
    return datetime.now().astimezone()


def parse_when(text: str | None, *, name: str, now: datetime) -> datetime | None:
    """Take an ISO 8601 date or moment, `now`, or `yesterday` (a day ago). Without an offset it is local time."""
    if text is None:
        return None
    if text in WORDS:
        return now - WORDS[text]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{name} {text!r}: expected a date like 2026-05-12, a moment like 2026-05-12T09:30, or one of "
            f"{', '.join(WORDS)}"
        ) from None
    return moment.astimezone() if moment.utcoffset() is None else moment


def shown(moment: datetime | None) -> str:
    """Return it to the minute, in local time."""
    if moment is None:
        return ""
    local = moment.astimezone()
    return f"{local.day} {local:%b %Y %H:%M}"
