"""Questions about the whole: what was talked about, which summaries answer; what is known of the user: facts do.

No word of "What do you know about me?" is in what answers it, so no search would find that.
"""

import re

import numpy as np

from commonplace.recall.corpus import KINDS, Corpus, Mask
from commonplace.recall.order import Balance, Weighed, latest
from commonplace.recall.terms import analyse
from commonplace.recall.when import window

ANSWERS = 0.9
"""The relevance of a summary, or of a fact about the user, for such a question."""
SUMMARY = KINDS.index("summary")
LONGEST = 200
"""Characters at the end of a question that are looked at."""
KNOWN = 200
"""So many of the latest facts are weighed, to begin with the important ones."""
FACTS = [KINDS.index("fact"), KINDS.index("preference")]

_ASKS = re.compile(
    r"\bwhat (?:all )?(?:have|had|did|do|were|was|are) (?:we|i|you and i) (?:\w+ )??(?:talk|discuss|chat|speak|spoke"
    r"|cover|go over|gone over|been talking|said|say)\w*(?: about| of| over| on)?"
    r"|\bwhat (?:was|were|is|are) (?:our|the|my) (?:\w+ ){0,2}(?:conversation|discussion|session|chat|talk)s?\b"
    r"(?: about)?"
    r"|\b(?:summari[sz]e|sum up|recap|give me (?:a|an) (?:summary|overview|recap) of|(?:summary|overview|recap) of)"
    r"(?: (?:everything|all|what|that|we|you|our|my|the|of|have|so far|talked about|discussed))*"
    r"(?: (?:\w+ )?(?:conversation|discussion|session|chat|talk)s?)?"
    r"|\bcatch me up\b|\bwhere (?:did we leave|were we)\b(?: off)?"
    r"|\bworüber (?:haben|hatten) wir\b(?: \w+)*? (?:gesprochen|geredet|diskutiert)"
    r"|\bde qué (?:hemos hablado|hablamos|habíamos hablado)\b|\bde quoi (?:avons-nous|on a) (?:parlé|discuté)\b",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(
    r"what (?:all )?(?:do|did|can|could) you (?:already |still )?(?:know|remember|recall|tell me)(?: of| about)? me"
    r"|what (?:have you|you(?:'ve| have)) (?:learned|learnt|remembered) (?:of|about) me"
    r"|what (?:is|do you have) (?:known|remembered) (?:of|about) me|who am i|(?:tell|remind) me about (?:me|myself)"
    r"|was (?:weißt|weisst) du (?:alles )?über mich|qué sabes (?:de|sobre) mí|que sais-tu (?:de|sur) moi",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\b(?:last|past|previous|this|these|those|earlier|recent|recently|lately|so far|yesterday|today|before|ago"
    r"|until|since|now|times?|weeks?|months?|years?|days?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may"
    r"|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|in|on|at|letzten?|letzte"
    r"|woche|monat|jahr|gestern|heute|semana|mes|año|ayer|pasad[oa]|together|conversations?|sessions?|chats?|\d+)\b",
    re.IGNORECASE,
)


def asks_overview(text: str, *, language: str = "en") -> bool:
    """Say whether a question asks for what was talked about, and names nothing that it was about."""
    if not _ASKS.search(text):
        return False
    return not analyse(_TIMES.sub(" ", _ASKS.sub(" ", text)), language=language)


def asks_about_user(text: str) -> bool:
    """Say whether a question, or the last sentence of it, asks for what is known of the user, and for nothing else."""
    sentences = [one.strip(" !?.,") for one in re.split(r"[.!?]\s", text[-LONGEST:]) if one.strip(" !?.,")]
    return bool(sentences) and _ABOUT_ME.fullmatch(sentences[-1]) is not None


def overview(corpus: Corpus, text: str, *, mask: Mask, balance: Balance, now: int, limit: int) -> list[Weighed]:
    """Return what answers such a question: facts, the best first, or the latest summaries of the time that it names."""
    kinds = corpus.rows.kind.cells
    if asks_about_user(text):
        known = _first(corpus, mask & np.isin(kinds, FACTS), balance=balance, now=now, limit=max(limit, KNOWN))
        return sorted(known, key=lambda one: -one.score)[:limit]
    if not asks_overview(text, language=corpus.language):
        return []
    at = corpus.rows.at.cells
    wanted = mask & (kinds == SUMMARY)
    asked = window(text, now=now)
    if asked is not None:
        wanted = wanted & (at >= asked.start) & (at < asked.stop)
    return _first(corpus, wanted, balance=balance, now=now, limit=limit)


def _first(corpus: Corpus, wanted: Mask, *, balance: Balance, now: int, limit: int) -> list[Weighed]:
    """Return these as answers, the latest first."""
    if not np.any(wanted):
        return []
    total = balance.relevance + balance.importance + balance.recency
    return [
        one._replace(hit=one.hit._replace(relevance=ANSWERS), score=one.score + balance.relevance * ANSWERS / total)
        for one in latest(corpus, wanted, balance=balance, now=now, limit=limit)
    ]
