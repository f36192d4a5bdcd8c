"""Whom a clause is about: the user ("I", "my wife and I"), someone of the user's ("my sister Kate"), or something
of theirs ("my budget")."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.adapters.rules.group import is_verb
from commonplace.adapters.rules.lexicon import ADVERBS, ORGANISATIONS
from commonplace.adapters.rules.moments import Moment
from commonplace.adapters.rules.relations import Relation, name_end, relation
from commonplace.adapters.rules.render import USER, Who
from commonplace.adapters.rules.tokens import Token, surface
from commonplace.adapters.rules.wordsets import word_set

_DISCOURSE = word_set(
    "so well also btw honestly ok okay oh hi hey hello yes yeah yep no nope thanks thank cool great nice sorry"
    " actually basically anyway and but because"
    " fyi tbh then plus yo lol ah hmm hm fact there correction wait oops alright sure again ps nb morning"
    " evening good folks guys"
)
_PHRASE_LEADS = frozenset(
    {
        "at",
        "for",
        "on",
        "in",
        "during",
        "with",
        "as",
        "after",
        "before",
        "since",
        "from",
        "besides",
        "to",
        "by",
        "outside",
        "apart",
        "every",
        "when",
    }
)
_FAR = 9


@dataclass(frozen=True, slots=True)
class Subject:
    who: Who | None
    """None: a thing of the user, which `noun` names."""
    at: int
    """Where the verb group begins."""
    kin: Relation | None = None
    noun: tuple[Token, ...] = ()
    lead: tuple[Token, ...] = ()
    """The words before it: "as a paralegal"."""
    beside: str = ""
    """A name that stands beside "I": "Theo and I"."""


def subject(tokens: Sequence[Token], moments: Sequence[Moment]) -> Subject | None:
    """Find the subject of a clause; None when it is about someone else."""
    begin = _lead(tokens, moments)
    if begin is None or begin >= len(tokens):
        return None
    low = tokens[begin].low
    lead = tuple(tokens[:begin])
    if low in {"i", "we"}:
        return Subject(USER, begin + 1, lead=lead)
    if low == "me" and [token.low for token in tokens[begin + 1 : begin + 3]] == ["and", "my"]:
        kin = relation(tokens[begin + 3 :])
        return Subject(USER, begin + 3 + kin.after, kin, lead=lead) if kin is not None else None
    end = name_end(tokens, begin)
    if end > begin and _and_i(tokens, end):
        return Subject(USER, end + 2, lead=lead, beside=surface(tokens[begin:end]))
    return _owned(tokens, begin, lead) if low in {"my", "our"} else None


def _and_i(tokens: Sequence[Token], at: int) -> bool:
    return [token.low for token in tokens[at : at + 2]] == ["and", "i"]


def _owned(tokens: Sequence[Token], begin: int, lead: tuple[Token, ...]) -> Subject | None:
    rest = tokens[begin + 1 :]
    kin = relation(rest)
    if kin is None:
        return _thing(tokens, begin, lead)
    after = begin + 1 + kin.after
    if after < len(tokens) and tokens[after].low == ",":
        after += 1
    if _and_i(tokens, after):
        return Subject(USER, after + 2, kin, lead=lead)
    if after < len(tokens) and tokens[after].low == "'s":
        owned = _thing(tokens, after, lead)
        if owned is not None and owned.who is None and owned.noun:
            return Subject(None, owned.at, kin, owned.noun, lead)
    return Subject(kin.who(), after, kin, lead=lead)


def _thing(tokens: Sequence[Token], begin: int, lead: tuple[Token, ...]) -> Subject | None:
    for at in range(begin + 2, min(begin + 6, len(tokens))):
        low = tokens[at].low
        if low in {"is", "are", "'s", "was"} or verb_of_change(tokens[at:]):
            return Subject(None, at, noun=tuple(tokens[begin + 1 : at]), lead=lead)
        if at == begin + 2 and tokens[begin + 1].low in ORGANISATIONS and (is_verb(low, "third") or low in ADVERBS):
            noun = tokens[begin + 1].low
            return Subject(Who(f"user's {noun}", f"User's {noun}"), at, lead=lead)
    return None


def verb_of_change(tokens: Sequence[Token]) -> int:
    """Return how many words "used to be", "changed to" and the like have at the start of the tokens; 0 for none."""
    low = tuple(token.low for token in tokens[:3])
    if low in {("used", "to", "be"), ("has", "changed", "to"), ("have", "changed", "to")}:
        return 3
    if low in {("went", "up", "to"), ("went", "down", "to"), ("is", "up", "to"), ("is", "down", "to")}:
        return 3
    return 2 if low[:1] in _TURNED and low[1:2] == ("to",) else 0


_TURNED = {(verb,) for verb in ("changed", "rose", "fell", "dropped", "increased", "decreased")}


def _lead(tokens: Sequence[Token], moments: Sequence[Moment]) -> int | None:
    """Return where the subject begins, if only fillers, times and adverbial phrases stand before it."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.low in {"i", "we", "my", "our", "me"}:
            return at
        inside = next((moment for moment in moments if moment.start <= token.start < moment.stop), None)
        if inside is not None or token.low in _DISCOURSE or token.low in ADVERBS or not token.text[0].isalnum():
            at += 1
        elif token.named and _and_i(tokens, name_end(tokens, at)):
            return at
        elif token.low in _PHRASE_LEADS:
            target = next(
                (place for place in range(at + 1, min(at + _FAR, len(tokens))) if tokens[place].low in {"i", "we"}),
                None,
            )
            if target is None or any(other.low in {"you", "he", "she", "they"} for other in tokens[at:target]):
                return None
            return target
        elif at == 0 and len(tokens) > 2 and tokens[1].low in {",", "!"} or token.low in {"max"}:
            at += 1
        else:
            return None
    return None
