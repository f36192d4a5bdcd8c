"""Sentences without a subject of their own, or with the user as the object: "call me Bo", "Miso died", "the trip is
off"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.group import Group
from commonplace.adapters.rules.lexicon import SUBJECTS
from commonplace.adapters.rules.moments import moments
from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.phrases import cleaned
from commonplace.adapters.rules.relations import name_end
from commonplace.adapters.rules.render import USER
from commonplace.adapters.rules.tokens import Token, surface, tokenise
from commonplace.adapters.rules.topics import EVENT_NOUNS

_NICKNAMED = Pattern(
    r"(?:please |just |you can |but )?call me |(?:everyone|everybody|people|friends|my friends|they|most people"
    r"|folks) (?:just |all |usually )?calls? me "
)
_NOT_CALLED = Pattern(r"\b(?:do not|don't|dont|never|stop|nobody|no one|used to|hate|wish|if|when)\b")
_INTRODUCED = Pattern(r"\s*(?:the name's|this is|name's) (?=[A-Z])", re.IGNORECASE)
_REACHED = Pattern(r"\b(?:reach|email|contact|write) me (?:at|via|on|under) (\S+@\S+\.\w+)")
_BIRTHDAY = Pattern(r"\b(?:it's|it is|today is|its) my birthday(?: today)?\b")
_BORN = Pattern(r"\s*(?:born and raised|born|raised) in (?=\w)")
_DIED = Pattern(
    r"\s*(?:(?i:sadly|unfortunately),? )?(?P<who>[A-Z][\w'-]+) (?:sadly |just |recently |peacefully )?"
    r"(?:died|passed away)\b"
    r"|\s*(?:We|we|I) (?:just )?had to put (?P<down>[A-Z][\w'-]+) (?:down|to sleep)\b"
)
_CALLED_OFF = Pattern(
    r"\s*(?:(?:sadly|unfortunately|ugh|so|well|ok|update)[:,]? )*(?:the|my|our) (?P<what>[\w' -]{3,50}?) "
    r"(?:(?:is|was|got|has been|just got|is now|has now been) (?:cancell?ed|called off|off)|fell through)\b"
)
_LAPSED = Pattern(
    r"\s*(?:my|our) (?P<what>[\w+.'-]+(?: [\w+.'-]+)?) (?P<kind>subscription|membership|account|plan) "
    r"(?:has |just |got |was |is )*(?:expired|ran out|lapsed|ended|cancell?ed|deleted|closed)\b"
)
Pair = tuple[Finding, Clause]
Clauses = Callable[[Sequence[Token]], list[Pair]]
"""Reads words as clauses, as any other sentence."""


def special(text: str, low: str, begin: int, stop: int, at: datetime, *, clauses: Clauses) -> list[Pair]:
    """Sentences without a subject of their own, or with the user as the object."""
    named = _NICKNAMED.search(low, begin, stop)
    if named is not None and _NOT_CALLED.search(low, begin, named.end()) is not None:
        return []
    if named is not None:
        return _naming(text, low, named.end(), stop, at, begin, clauses)
    clause = bare(begin, stop, at)
    introduced_as = _INTRODUCED.match(text, begin, stop)
    if introduced_as is not None:
        tokens = tokenise(text, introduced_as.end(), stop)
        end = name_end(tokens, 0)
        return (
            [(found(clause, "name", surface(tokens[:end]), "be called"), clause)] if end and end == len(tokens) else []
        )
    reached = _REACHED.search(low, begin, stop)
    if reached is not None:
        return [(found(clause, "email", text[reached.start(1) : reached.end(1)], "can be reached at"), clause)]
    if _BIRTHDAY.search(low, begin, stop) is not None:
        day = f"{at.day} {at:%B}"
        return [(told(clause, "birthday", day, f"User's birthday is {day}", when="none"), clause)]
    over = _over(text, low, begin, stop, at) if low[stop : stop + 1] != "?" else []
    if over:
        return over
    born = _BORN.match(low, begin, stop)
    if born is not None:
        tokens = tokenise(text, born.end(), stop)
        end = name_end(tokens, 0)
        return [(found(clause, "hometown", surface(tokens[:end]), "come from"), clause)] if end else []
    return []


def _over(text: str, low: str, begin: int, stop: int, at: datetime) -> list[Pair]:
    """What has come to an end by itself. The words do not say that it was the user's, so all of it is unsure."""
    died = _DIED.match(text, begin, stop)
    if died is not None:
        return _lost(died, low, tokenise(text, begin, stop), at)
    clause = bare(begin, stop, at)
    off = _CALLED_OFF.match(low, begin, stop)
    if off is not None:
        return _called_off(off, text, clause)
    lapsed = _LAPSED.match(low, begin, stop)
    if lapsed is None:
        return []
    name = text[lapsed.start("what") : lapsed.end("what")]
    gone = told(clause, "uses", name, f"User's {name} {lapsed['kind']} has ended", standing="ended")
    return [(replace(gone, confidence=0.4), clause)]


def _lost(died: re.Match[str], low: str, tokens: Sequence[Token], at: datetime) -> list[Pair]:
    """ "Miso died last week": the end of whoever bears that name among the user's own, and nothing if nobody does."""
    name = died["who"] or died["down"]
    if name.lower() in SUBJECTS | {"who", "nobody", "everybody"}:
        return []
    clause = replace(bare(tokens[0].start, tokens[-1].stop, at), moments=moments(low, tokens))
    return [(replace(told(clause, "pet", name, f"{name} died", standing="ended"), confidence=0.4), clause)]


def _called_off(off: re.Match[str], text: str, clause: Clause) -> list[Pair]:
    """ "The trip to Oslo is cancelled": the end of a plan, and nothing if none is known that it could be."""
    tokens = tokenise(text, off.start("what"), off.end("what"))
    phrase = cleaned(tokens)
    if phrase is None or (EVENT_NOUNS | {"move", "visit", "journey"}).isdisjoint(phrase.low):
        return []
    finding = told(clause, "plans", phrase.text, f"User's {phrase.text} was called off", standing="ended")
    return [(replace(finding, confidence=0.4), clause)]


def _naming(text: str, low: str, at: int, stop: int, now: datetime, begin: int, clauses: Clauses) -> list[Pair]:
    tokens = tokenise(text, at, stop)
    clause = bare(begin, stop, now)
    end = name_end(tokens, 0)
    if not end or (end < len(tokens) and tokens[end].low not in {",", "and", "please", "for", "btw", "by", "!"}):
        return []
    nickname = (found(clause, "nickname", surface(tokens[:end]), "go by"), clause)
    before = clauses(tokenise(text, begin, at))
    return [*((finding, inner) for finding, inner in before if finding.attribute == "name"), nickname]


def bare(begin: int, stop: int, at: datetime) -> Clause:
    return Clause(USER, Group("be", "present", 0), (), (), (), at, begin, stop)
