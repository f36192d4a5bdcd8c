"""One clause with its parts, and what is found in it. Everything the rules for single verbs take and give."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple

from commonplace.adapters.rules.group import Group
from commonplace.adapters.rules.lexicon import FREQUENT
from commonplace.adapters.rules.moments import Moment, Range, ago, resolve
from commonplace.adapters.rules.phrases import Phrase
from commonplace.adapters.rules.render import USER, Who, predicate, seen_from_outside, sentence
from commonplace.adapters.rules.tokens import Token, words
from commonplace.domain.claims import Standing

When = Literal["began", "now", "ended", "spans", "none"]
"""`now`: it has begun, and at the latest when it is said."""


class Beside(NamedTuple):
    """Whom the clause is about together with the user: "Theo and I", "my husband and I"."""

    name: str = ""
    bond: str = ""
    """Which relative or friend it is, if that is said: "partner"."""


ALONE = Beside()


@dataclass(frozen=True, slots=True)
class Clause:
    who: Who
    group: Group
    rest: Sequence[Token]
    """The words after the verb, without time expressions and without "anymore", "again"."""
    full: Sequence[Token]
    """The same with them."""
    moments: Sequence[Moment]
    at: datetime
    start: int
    stop: int
    marks: frozenset[str] = frozenset()
    """ "anymore", "again": words that say how this stands to what was so before."""
    beside: Beside = ALONE

    @property
    def ended(self) -> bool:
        group = self.group
        if group.ended or (group.negated and "anymore" in self.marks):
            return True
        return (
            group.negated
            and group.tense == "perfect"
            and any(moment.role in {"long", "since", "for"} for moment in self.moments)
        )

    @property
    def standing(self) -> Standing:
        if self.ended:
            return "ended"
        return "denied" if self.group.negated else "holds"

    @property
    def often(self) -> bool:
        return (
            "began" in self.marks
            or any(moment.role == "often" for moment in self.moments)
            or not FREQUENT.isdisjoint(self.group.adverbs)
        )

    @property
    def lasting(self) -> bool:
        """ "for six years", "since 2019": what makes "I have worked there" a state that holds; "I worked" is over."""
        return self.group.tense != "past" and any(moment.role in {"for", "since"} for moment in self.moments)

    @property
    def low(self) -> tuple[str, ...]:
        return words(self.rest)

    def with_verb(self, lemma: str, rest: Sequence[Token], *, ended: bool = False, past: bool = False) -> "Clause":
        """The clause of the inner verb: "stopped using X" as "use X", ended."""
        group = replace(
            self.group,
            lemma=lemma,
            tense="past" if past else "present",
            progressive=False,
            ended=ended or self.group.ended,
        )
        return replace(self, group=group, rest=rest)

    def after(self, count: int) -> "Clause":
        return replace(self, rest=self.rest[count:])

    def dated(self, *, ahead: bool) -> Range | None:
        """The day, month or year that is named, if one is."""
        for moment in self.moments:
            if moment.role == "point":
                return resolve(moment.period, self.at, ahead=ahead)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    attribute: str
    value: str
    text: str
    who: Who = USER
    standing: Standing = "holds"
    when: When = "began"
    start: int
    stop: int
    confidence: float = 0.9
    importance: float = 0.0
    """Added to the attribute's own."""
    follows: bool = False
    """See `Claim.follows`."""
    span: Range | None = None
    """Its own days, where the clause names others, too."""


def found(
    clause: Clause,
    attribute: str,
    value: Phrase | str,
    verb: str,
    *,
    tail: str = "",
    standing: Standing | None = None,
    when: When | None = None,
) -> Finding:
    """Make a finding whose text is "<who> <verb> <value>", conjugated for its standing."""
    stands = standing or clause.standing
    whole = value.whole if isinstance(value, Phrase) else value
    text = sentence(
        clause.who, predicate(clause.who, verb, standing=stands), seen_from_outside(whole), seen_from_outside(tail)
    )
    return told(clause, attribute, value.text if isinstance(value, Phrase) else value, text, standing=stands, when=when)


def told(
    clause: Clause, attribute: str, value: str, text: str, *, standing: Standing | None = None, when: When | None = None
) -> Finding:
    """Make a finding with its own text."""
    stands = standing or clause.standing
    return Finding(
        attribute=attribute,
        value=value,
        text=text,
        who=clause.who,
        standing=stands,
        start=clause.start,
        stop=clause.stop,
        when=when or ("ended" if stands == "ended" else "began"),
    )


def validity(finding: Finding, clause: Clause) -> tuple[datetime | None, datetime | None]:
    """Return when it began and ended, as far as the clause says so."""
    if finding.when == "spans":
        span = finding.span or clause.dated(ahead=True)
        return (span.start, span.stop) if span is not None else (None, None)
    if finding.when == "none":
        return (None, None)
    begin, end = _bounds(clause)
    if finding.when == "ended":
        return (begin if end is not None else None, end or _ended_at(clause))
    return (begin or _began_at(clause) or (clause.at if finding.when == "now" else None), end)


def _bounds(clause: Clause) -> tuple[datetime | None, datetime | None]:
    begin = end = None
    for moment in clause.moments:
        if moment.role == "until":
            span = resolve(moment.period, clause.at, ahead=clause.group.tense == "present")
            end = span.start if span is not None else None
        elif moment.role == "since":
            span = resolve(moment.period, clause.at)
            begin = span.start if span is not None else None
    return (begin, end)


def _ended_at(clause: Clause) -> datetime | None:
    """The end of the named range, but never later than the message itself."""
    begin, _ = _bounds(clause)
    if begin is not None:
        return begin
    span = clause.dated(ahead=False)
    return min(span.stop, clause.at) if span is not None and span.start <= clause.at else None


def _began_at(clause: Clause) -> datetime | None:
    for moment in clause.moments:
        if moment.role == "for":
            return ago(moment.period, clause.at)
    span = clause.dated(ahead=False)
    return span.start if span is not None and span.start <= clause.at else None
