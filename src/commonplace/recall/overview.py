"""Questions about the conversations as such ("what have we talked about?"), which summaries answer."""

import re

import numpy as np

from commonplace.recall.corpus import KINDS, Corpus, Mask
from commonplace.recall.order import Balance, Weighed, latest
from commonplace.recall.terms import analyse
from commonplace.recall.when import window

ANSWERS = 0.9
"""The relevance of a summary for such a question."""
SUMMARY = KINDS.index("summary")

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


def overview(corpus: Corpus, text: str, *, mask: Mask, balance: Balance, now: int, limit: int) -> list[Weighed]:
    """Return the summaries that answer such a question, the latest first; those of the time that it names."""
    if not asks_overview(text, language=corpus.language):
        return []
    at = corpus.rows.at.cells
    wanted = mask & (corpus.rows.kind.cells == SUMMARY)
    asked = window(text, now=now)
    if asked is not None:
        wanted = wanted & (at >= asked.start) & (at < asked.stop)
    if not np.any(wanted):
        return []
    total = balance.relevance + balance.importance + balance.recency
    return [
        one._replace(hit=one.hit._replace(relevance=ANSWERS), score=one.score + balance.relevance * ANSWERS / total)
        for one in latest(corpus, wanted, balance=balance, now=now, limit=limit)
    ]
