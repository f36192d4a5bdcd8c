"""Time in English sentences: "since 2019", "two years ago", "next Friday", "every Tuesday", found by place and
resolved against a moment.

An expression becomes a range, because people name days, months and years, not instants.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from commonplace.adapters.rules.lexicon import NUMBERS
from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.wordsets import word_set

Role = Literal["point", "since", "until", "for", "long", "often", "now"]


class Range(NamedTuple):
    start: datetime
    stop: datetime


class Moment(NamedTuple):
    """A time expression at a place in the text."""

    role: Role
    start: int
    stop: int
    said: str
    period: str
    """The calendar part alone, in lower case: "march 2024", "last week", "3 years"."""


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_DAY = r"(?:tues?|weds?|thurs?)"
_PART = r"(?:morning|afternoon|evening|night)"
_UNIT = r"(?:day|week|fortnight|month|year|decade|quarter|weekend)"
_COUNT = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|a couple of|a few|few|several)"
)
_YEAR = r"(?:19|20)\d\d"
_NAMED = (
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?"
    rf"|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR})?(?!\d)"
    rf"|{_YEAR}-\d\d-\d\d"
)
_LOOSE = (
    rf"{_MONTH}(?: (?:of )?{_YEAR})?|(?:early |mid-?|late )?{_YEAR}|(?:the )?(?:spring|summer|autumn|fall"
    rf"|winter)(?: of {_YEAR})?|{_DAY}(?: {_PART})?"
)
_DEICTIC = (
    rf"(?:last|next|this|this coming|this past|the past|the coming) (?:{_UNIT}|spring|summer|autumn|fall|winter"
    rf"|{_DAY}|{_SHORT_DAY}|{_MONTH})(?: {_PART})?"
    rf"|today|tonight|tomorrow(?: {_PART})?|yesterday(?: {_PART})?|last night"
    rf"|the day after tomorrow(?: {_PART})?|the day before yesterday|this {_PART}"
    r"|the (?:week|weekend|month|year|spring|summer|autumn|fall|winter) before last"
    r"|the other (?:day|week|month|night|evening|weekend)"
    r"|(?:a (?:little |long |short )?while|some time|not long) (?:ago|back)"
    rf"|{_COUNT} {_UNIT}s? (?:ago|back)|(?:a long time|ages|years|decades) ago"
)
_OFTEN = (
    rf"(?:almost )?(?:every|each) (?:other |single )?(?:{_UNIT}s?|{_DAY}|{_PART}|summer|winter|spring|autumn)"
    rf"(?:(?:, |,? and ){_DAY})*(?: {_PART})?"
    rf"|on (?:{_DAY}s(?:(?:, |,? and ){_DAY}s)*|weekends|weekdays|(?:my|the) weekends?)"
    rf"|(?:once|twice|{_COUNT} times|\d+ ?x|{_COUNT} (?:days|nights|hours)) (?:a|per|each|every) {_UNIT}"
    r"|in the (?:mornings?|afternoons?|evenings?)|at night|at weekends|most (?:days|mornings|nights|evenings"
    r"|weekends)"
    r"|all the time|during the week|day and night|daily|weekly"
)
_NOW = r"nowadays|these days|right now|at the moment|at present|for now|for the time being"
_EVER = (
    r"since (?:childhood|birth|forever|i was (?:an? )?[\w-]+(?: years old)?|then)|as a (?:kid|child|teenager)"
    r"|all my life|my whole life"
)
_SOME = r"(?:about |around |almost |over |nearly |more than |the (?:last|past) |well over |roughly |at least )?"
_BEFORE = (
    r"on|in|during|around|about|back in|by|at the end of|at the beginning of|over|before|after|sometime in"
    r"|early in|late in"
)
_TIME = Pattern(
    rf"(?:(?P<often>{_OFTEN})|(?P<now>{_NOW})|(?P<ever>{_EVER})"
    rf"|for {_SOME}(?P<for>{_COUNT} {_UNIT}s?(?: now)?|ages|years|decades|months|(?:a|so|a very) long(?: time)?"
    rf"|a (?:little |long |good )?while(?: now)?)"
    r"|(?P<long>in (?:ages|years|months|decades|weeks|forever|a long time))"
    rf"|(?P<ahead>in {_COUNT} {_UNIT}s?(?:' time)?)"
    rf"|(?:from|between) (?P<from>{_NAMED}|{_DEICTIC}|{_LOOSE}) (?:to|until|till|and|through) (?P<to>{_NAMED}"
    rf"|{_DEICTIC}|{_LOOSE})"
    rf"|(?P<role>since about|ever since|since|up until|up to|until|till|from|starting|as of) (?P<bound>{_NAMED}"
    rf"|{_DEICTIC}|{_LOOSE})"
    rf"|(?:{_BEFORE}) (?P<period>{_NAMED}|{_DEICTIC}|{_LOOSE})"
    rf"|(?P<bare>{_NAMED}|{_DEICTIC}))(?!\w)"
)
_STARTERS = word_set(
    "almost every each on once twice in at most all during day daily weekly nowadays these right for since as my"
    " until till up from between starting"
    " ever around about back by over before after sometime early late last next this the today tonight tomorrow"
    " yesterday a an one two three"
    " four five six seven eight nine ten eleven twelve fifteen twenty thirty several few ages years decades some not"
)


def moments(text: str, tokens: Sequence[Token]) -> list[Moment]:
    """Return the time expressions that begin at one of the tokens; the text is in lower case."""
    found: list[Moment] = []
    after = 0
    for token in tokens:
        if token.start < after or not (token.low in _STARTERS or token.low[:3] in _MONTHS or token.low[0].isdigit()):
            continue
        match = _TIME.match(text, token.start, tokens[-1].stop)
        if match is not None:
            found.append(_moment(match))
            after = match.end()
    return found


def _moment(match: re.Match[str]) -> Moment:
    said = match.group()
    groups = match.groupdict()
    place = (match.start(), match.end(), said)
    if groups["to"]:
        return Moment("point", *place, f"{groups['from']}..{groups['to']}")
    if groups["often"]:
        return Moment("often", *place, said)
    if groups["now"]:
        return Moment("now", *place, said)
    if groups["ever"]:
        return Moment("since", *place, "")
    if groups["for"]:
        return Moment("for", *place, groups["for"])
    if groups["long"]:
        return Moment("long", *place, "")
    if groups["bound"]:
        role: Role = "until" if groups["role"] in {"until", "till", "up until", "up to"} else "since"
        return Moment(role, *place, groups["bound"])
    return Moment("point", *place, groups["ahead"] or groups["period"] or groups["bare"])


def resolve(period: str, at: datetime, *, ahead: bool = False) -> Range | None:
    """Return the range that a calendar phrase names.

    `ahead` looks forward: a bare month is the next one, not the last one.
    """
    if ".." in period:
        first, last = (resolve(part, at, ahead=ahead) for part in period.split(".."))
        return (
            Range(first.start, last.stop)
            if first is not None and last is not None and first.start < last.stop
            else None
        )
    for reader in _READERS:
        found = reader(period, at, ahead)
        if found is not None:
            return found
    return None


def ago(period: str, at: datetime) -> datetime | None:
    """Return when "3 years" ago was."""
    match = re.match(rf"({_COUNT}) ({_UNIT})", period)
    if match is None:
        return None
    return _shift(_midnight(at), match[2], -_count(match[1]))


def shown(span: Range) -> str:
    """Say a range in words that stay true later: "on 20 November 2026"."""
    days = (span.stop - span.start).days
    if days <= 1:
        return f"on {span.start.day} {span.start:%B %Y}"
    if days <= 8:
        return f"in the week of {span.start.day} {span.start:%B %Y}"
    if days <= 31:
        return f"in {span.start:%B %Y}"
    return f"in {span.start:%Y}" if days > 300 else f"around {span.start:%B %Y}"


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _count(word: str) -> int:
    if word.isdecimal():
        return min(int(word), 1000)
    return NUMBERS.get(word.split()[1] if word.startswith(("a couple", "a few")) else word, 1)


def _month_range(year: int, month: int, like: datetime, months: int = 1) -> Range | None:
    if not 1 <= year <= 9990:
        return None
    start = _midnight(like).replace(year=year, month=month, day=1)
    after = month - 1 + months
    return Range(start, start.replace(year=year + after // 12, month=after % 12 + 1))


_DAYS_OF = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}


def _shift(day: datetime, unit: str, count: int) -> datetime | None:
    if unit in _DAYS_OF:
        return day + timedelta(days=count * _DAYS_OF[unit])
    months = count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
    total = day.year * 12 + day.month - 1 + months
    if not 12 <= total <= 9990 * 12:
        return None
    return day.replace(year=total // 12, month=total % 12 + 1, day=min(day.day, 28))


def _days(start: datetime, days: int = 1) -> Range:
    return Range(start, start + timedelta(days=days))


_WORDS = {
    "the day before yesterday": -2,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "yesterday": -1,
    "last night": -1,
    "the day after tomorrow": 2,
}


def _word(period: str, at: datetime, _ahead: bool) -> Range | None:
    head = next((words for words in _WORDS if period.startswith(words)), "")
    if re.fullmatch(rf"this {_PART}", period):
        head = "today"
    return _days(_midnight(at) + timedelta(days=_WORDS[head])) if head in _WORDS else None


def _counted(period: str, at: datetime, _ahead: bool) -> Range | None:
    match = re.fullmatch(rf"(in )?({_COUNT}) ({_UNIT})s?(?:' time)?( ago| back)?", period)
    if match is None or not (match[1] or match[4]):
        return None
    moment = _shift(_midnight(at), match[3], _count(match[2]) * (-1 if match[4] else 1))
    if moment is None:
        return None
    if match[3] in {"year", "decade"}:
        return _month_range(moment.year, moment.month, moment)
    return _days(moment, 1 if match[3] == "day" else 7)


_STEPS = {"last": -1, "past": -1, "next": 1, "coming": 1, "this": 0}


def _relative(period: str, at: datetime, ahead: bool) -> Range | None:
    match = re.fullmatch(rf"(?:this |the )?(last|next|this|coming|past) ([a-z]+)(?: {_PART})?", period)
    if match is None:
        return None
    step, noun = _STEPS[match[1]], match[2]
    today = _midnight(at)
    if noun[:3] in _DAYS and (noun.endswith("day") or re.fullmatch(_SHORT_DAY, noun)):
        return _weekday(noun, today, step, ahead)
    if noun in {"day", "week", "weekend"}:
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * step)
        return _days(monday + timedelta(days=5), 2) if noun == "weekend" else _days(monday, 7)
    if noun in _SEASONS or noun[:3] in _MONTHS:
        return _nearest_month(noun, at, step or (1 if ahead else -1))
    moment = _shift(today.replace(day=1), noun, step)
    if moment is None:
        return None
    if noun == "month":
        return _month_range(moment.year, moment.month, moment)
    if noun == "quarter":
        return _month_range(moment.year, (moment.month - 1) // 3 * 3 + 1, moment, 3)
    return _month_range(moment.year, 1, moment, 12 if noun == "year" else 120)


def _before_last(period: str, at: datetime, _ahead: bool) -> Range | None:
    """The same as "last", one unit earlier: a week, a month, or for a season a year."""
    match = re.fullmatch(r"the ([a-z]+) before last", period)
    if match is None:
        return None
    noun = match[1]
    earlier = _shift(_midnight(at), noun if noun in {"week", "weekend", "month"} else "year", -1)
    return _relative(f"last {noun}", earlier, False) if earlier is not None else None


def _weekday(noun: str, today: datetime, step: int, ahead: bool) -> Range:
    """The nearest such day in the direction; "next Friday", said on a Tuesday, is the coming one."""
    distance = (_DAYS.index(noun[:3]) - today.weekday()) % 7
    if step < 0 or (step == 0 and not ahead):
        return _days(today + timedelta(days=distance - 7 if distance or step < 0 else 0))
    return _days(today + timedelta(days=distance or (7 if step else 0)))


def _nearest_month(noun: str, at: datetime, direction: int) -> Range | None:
    month = _SEASONS.get(noun) or _MONTHS.index(noun[:3]) + 1
    length = 3 if noun in _SEASONS else 1
    year = at.year
    if direction > 0 and month < at.month:
        year += 1
    if direction < 0 and month > at.month:
        year -= 1
    return _month_range(year, month, at, length)


def _dated(period: str, at: datetime, ahead: bool) -> Range | None:
    iso = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", period)
    if iso is not None:
        return _day_of(int(iso[1]), int(iso[2]), int(iso[3]), at)
    match = re.fullmatch(
        rf"(?:the )?(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?({_MONTH})(?: (?:the )?(\d{{1,2}})(?:st|nd|rd"
        rf"|th)?)?(?:,? (?:of )?({_YEAR}))?",
        period,
    )
    if match is None:
        return None
    day, month, year = match[1] or match[3], _MONTHS.index(match[2][:3]) + 1, match[4]
    if day is None:
        return _month_range(int(year), month, at) if year else _nearest_month(match[2], at, 1 if ahead else -1)
    if year is not None:
        return _day_of(int(year), month, int(day), at)
    found = _day_of(at.year, month, int(day), at)
    if found is None or (found.stop > at) == ahead or found.start <= at < found.stop:
        return found
    return _day_of(at.year + (1 if ahead else -1), month, int(day), at)


def _day_of(year: int, month: int, day: int, at: datetime) -> Range | None:
    try:
        return _days(_midnight(at).replace(year=year, month=month, day=day))
    except ValueError:
        return None


def _plain(period: str, at: datetime, ahead: bool) -> Range | None:
    year = re.search(_YEAR, period)
    season = re.search(r"spring|summer|autumn|fall|winter", period)
    if season is not None:
        if year is not None:
            return _month_range(int(year[0]), _SEASONS[season[0]], at, 3)
        return _nearest_month(season[0], at, 1 if ahead else -1)
    if year is not None and re.fullmatch(rf"(?:early |mid-?|late )?{_YEAR}", period):
        return _month_range(int(year[0]), 1, at, 12)
    day = re.match(_DAY, period)
    return _weekday(day[0], _midnight(at), 0, ahead) if day is not None else None


_Reader = Callable[[str, datetime, bool], Range | None]
_READERS: tuple[_Reader, ...] = (_word, _counted, _before_last, _relative, _dated, _plain)
