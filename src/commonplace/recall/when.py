"""The time a question speaks of: dates, months, seasons, years, and expressions relative to now or to a birthday.

English only. A month or season without a year is the latest one that has begun: questions to a memory look back.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from commonplace.domain.times import from_micros, to_micros
from commonplace.recall.terms import MONTHS


class Window(NamedTuple):
    """Microseconds since 1970; `stop` is not part of it."""

    start: int
    stop: int


class Days(NamedTuple):
    first: date
    last: date
    """The last day that belongs to it."""


Birthday = tuple[int, int]
"""Month and day."""

_SPELT = "one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = dict(zip(_SPELT.split(), range(1, 13), strict=True))
_NUMBERS |= {"a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 4}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_SPANS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "year": 365}

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>day|week|weekend|fortnight|month|year)s?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"

_MONTH_FIRST = re.compile(rf"\b{_MONTH} {_DAY},? ?(?:of )?{_YEAR}\b")
_RANGE = re.compile(r"\b(?:between|from)\b.*\b(?:and|to|until|till)\b")
_SINCE = re.compile(r"\b(?:since|after)(?: the| last)? $")

_MOVED = re.compile(
    r"\b(?<=after |since )i (?:first )?(?:moved|relocated) to (?P<place>[^\s?!.,;]+(?: [^\s?!.,;]+){0,3})",
    re.IGNORECASE,
)
_OF_YEAR = (re.compile(rf"\b{_DAY} (?:of )?{_MONTH}\b"), re.compile(rf"\b{_MONTH} {_DAY}\b"))

Rule = Callable[[re.Match[str], date], Days | None]


def window(text: str, *, now: int, birthday: Birthday | None = None, moved: date | None = None) -> Window | None:
    """Return the time that a question speaks of, or None. `moved` is when the user did, if it asks what was since."""
    today = from_micros(now).date()
    folded = _MONTH_FIRST.sub(r"\g<day> \g<month> \g<year>", " ".join(text.casefold().split()))
    if birthday is not None:
        folded = _birthday_as_date(folded, today, birthday)
    if moved is not None:
        folded = _MOVED.sub(_spelt(moved), folded)
    found = list(_found(folded, today))
    if not found:
        return None
    days = found[0]
    if len(found) > 1 and _RANGE.search(folded):
        days = Days(min(each.first for each in found), max(each.last for each in found))
    return Window(_midnight(days.first), _midnight(days.last) + 86_400_000_000)


def _midnight(day: date) -> int:
    return to_micros(datetime.combine(day, time(), UTC))


def _found(text: str, today: date) -> Iterator[Days]:
    """Yield each expression, the most definite first. What one rule has read, later rules do not see."""
    for pattern, rule in _RULES:
        for match in pattern.finditer(text):
            try:
                days = rule(match, today)
            except (ValueError, OverflowError):
                continue  # 31 June, or a year that no calendar has: no expression of time
            if days is not None:
                open_end = _SINCE.search(text[: match.start()]) or match[0].startswith(("since", "after"))
                yield Days(days.first, max(days.last, today)) if open_end else days
                text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]


def birthday_of(text: str) -> Birthday | None:
    """Read the month and day out of what a fact says: "3 March 1990", "May 4th"."""
    for pattern in _OF_YEAR:
        for match in pattern.finditer(text.casefold()):
            month, day = _month(match), int(match["day"])
            if 1 <= day <= 31:
                return month, day
    return None


def _birthday_as_date(text: str, today: date, birthday: Birthday) -> str:
    month, day = birthday
    for year in (today.year, today.year - 1):
        try:
            latest = date(year, month, day)
        except ValueError:  # 29 February
            latest = date(year, month, day - 1)
        if latest <= today:
            break
    return re.sub(r"\bmy (?:last )?birthday\b", _spelt(latest), text)


def moved_to(text: str) -> str | None:
    """Return the words after "since I moved to", which begin with the place; None if the question has none."""
    found = _MOVED.search(" ".join(text.split()))
    return found["place"] if found else None


def _spelt(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _count(match: re.Match[str]) -> int:
    said = match["count"]
    return int(said) if said.isdigit() else _NUMBERS[said]


def _month(match: re.Match[str]) -> int:
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(match["month"][:3]))


def _months(year: int, month: int, count: int = 1) -> Days:
    end = year * 12 + month - 1 + count
    return Days(date(year, month, 1), date(end // 12, end % 12 + 1, 1) - timedelta(days=1))


def _full_date(match: re.Match[str], today: date) -> Days:
    parts = match.groupdict()
    day, month = int(match["day"]), int(match["number"]) if parts.get("number") else _month(match)
    year = int(match["year"]) if parts.get("year") else None
    found = date(year or today.year, month, day)
    if year is None and found > today:
        found = date(today.year - 1, month, day)
    return Days(found, found)


def _counted_from(match: re.Match[str], today: date) -> Days:
    """Read "two weeks before 3 May 2023"."""
    anchor = _full_date(match, today).first
    away = timedelta(days=_count(match) * _SPANS[match["unit"]])
    day = anchor - away if match["way"] == "before" else anchor + away
    return _around(day, match["unit"])


def _week_from(match: re.Match[str], today: date) -> Days:
    """Read "the Friday before 20 May 2023", "the week after …"."""
    anchor = _full_date(match, today).first
    week = timedelta(days=7)
    return Days(anchor - week, anchor) if match["way"] == "before" else Days(anchor, anchor + week)


def _month_of_year(match: re.Match[str], today: date) -> Days:
    month = _month(match)
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    return _months(year, month)


def _season(match: re.Match[str], today: date) -> Days | None:
    month, which = _SEASONS[match["season"]], match["which"]
    if match["year"]:
        return _months(int(match["year"]) - (month == 12), month, 3)
    if not which:
        return None
    begun = _months(today.year - (date(today.year, month, 1) > today), month, 3)
    if which == "last" and begun.last >= today:
        return _months(begun.first.year - 1, month, 3)
    return begun


def _year(match: re.Match[str], today: date) -> Days | None:
    year = int(match["year"])
    return _months(year, 1, 12) if year <= today.year + 1 else None


def _ago(match: re.Match[str], today: date) -> Days:
    day = today - timedelta(days=_count(match) * _SPANS[match["unit"]])
    return _around(day, match["unit"])


def _around(day: date, unit: str) -> Days:
    slack = timedelta(days={"day": 0, "week": 3, "weekend": 3, "fortnight": 5, "month": 15, "year": 183}[unit])
    return Days(day - slack, day + slack)


def _past(match: re.Match[str], today: date) -> Days:
    return Days(today - timedelta(days=_count(match) * _SPANS[match["unit"]]), today)


def _named_day(match: re.Match[str], today: date) -> Days:
    back = {"day before yesterday": 2, "yesterday": 1, "last night": 1}.get(match["said"], 0)
    day = today - timedelta(days=back) + timedelta(days=match["said"] == "tomorrow")
    return Days(day, day)


def _week(today: date, steps: int) -> Days:
    monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * steps)
    return Days(monday, monday + timedelta(days=6))


def _unit(match: re.Match[str], today: date) -> Days:
    steps = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1}[match["which"]]
    if match["unit"] == "month":
        month = today.year * 12 + today.month - 1 + steps
        return _months(month // 12, month % 12 + 1)
    if match["unit"] == "year":
        return _months(today.year + steps, 1, 12)
    week = _week(today, steps)
    return Days(week.last - timedelta(days=1), week.last) if match["unit"] == "weekend" else week


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"])) % 7 or 7
    day = today - timedelta(days=back) if match["which"] != "next" else today + timedelta(days=7 - back % 7)
    return Days(day, day)


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(rf"\b{pattern}\b"), rule


_DATE = rf"(?:{_DAY} (?:of )?{_MONTH},? {_YEAR})"
_WHICH = r"(?P<which>last|past|previous|this|next)"
_NEAR = r"(?:in|of|last|this|during|since|until|before|after|early|mid|late|by|between|and|from|to)[ -]"
_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    _rule(rf"{_COUNT} {_UNIT} (?P<way>before|after) {_DATE}", _counted_from),
    _rule(rf"(?:week|weekend|{_WEEKDAY}) (?P<way>before|after) {_DATE}", _week_from),
    _rule(rf"{_YEAR}-(?P<number>\d\d)-{_DAY}", _full_date),
    _rule(rf"{_DAY} (?:of )?{_MONTH}(?:,? (?:of )?{_YEAR})?", _full_date),
    _rule(rf"{_MONTH} {_DAY}", _full_date),
    _rule(rf"{_MONTH},? (?:of )?{_YEAR}", _month_of_year),
    _rule(rf"{_NEAR}{_MONTH}(?P<year>)", _month_of_year),
    _rule(rf"(?:(?P<which>last|this|in|during|the) (?:the )?)?{_SEASON}(?:,? (?:of )?{_YEAR})?", _season),
    _rule(rf"{_COUNT} {_UNIT} ago", _ago),
    _rule(rf"(?:last|past|previous) {_COUNT} {_UNIT}", _past),
    _rule(r"(?P<said>day before yesterday|yesterday|last night|today|tonight|this morning|tomorrow)", _named_day),
    _rule(rf"{_WHICH} {_WEEKDAY}", _weekday),
    _rule(rf"on (?P<which>){_WEEKDAY}", _weekday),
    _rule(rf"{_WHICH} {_UNIT}", _unit),
    _rule(_YEAR, _year),
)
