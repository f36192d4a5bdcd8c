"""From the user's first person to a clean third person: "my wife" becomes "their wife", "live in" becomes "lives
in"."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.adapters.rules.tokens import Token, surface
from commonplace.adapters.rules.verbs import inflect
from commonplace.domain.claims import Standing

_OTHERS = {
    "i": "they",
    "me": "them",
    "my": "their",
    "mine": "theirs",
    "myself": "themselves",
    "we": "they",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "ourselves": "themselves",
}


@dataclass(frozen=True, slots=True)
class Who:
    """Whom a clause is about."""

    key: str = "user"
    shown: str = "User"
    plural: bool = False

    @property
    def is_user(self) -> bool:
        return self.key == "user"


USER = Who()


def third_person(tokens: Sequence[Token]) -> str:
    """The words as written, seen from outside."""
    return surface([token._replace(text=_OTHERS.get(token.low, token.text)) for token in tokens])


def seen_from_outside(text: str) -> str:
    return " ".join(_OTHERS.get(word.lower(), word) for word in text.split(" "))


def predicate(who: Who, verb: str, *, standing: Standing, past: bool = False) -> str:
    """Conjugate "live in" for whom it is about: "lives in", "no longer lives in", "does not live in", "lived in"."""
    base, _, rest = verb.partition(" ")
    after = f" {rest}" if rest else ""
    if base == "be":
        return _copula(who, standing, past=past) + after
    if base == "has" and standing == "denied":
        return f"has never{after}"
    if base in {"can", "was", "has", "got"} or past:
        return (inflect(base, "past") if past and base not in {"can", "was", "has", "got"} else base) + after
    if standing == "denied":
        return f"{'do' if who.plural else 'does'} not {base}{after}"
    finite = base if who.plural else inflect(base, "third")
    return f"no longer {finite}{after}" if standing == "ended" else f"{finite}{after}"


def _copula(who: Who, standing: Standing, *, past: bool) -> str:
    verb = ("were" if who.plural else "was") if past else ("are" if who.plural else "is")
    if standing == "ended":
        return f"{verb} no longer"
    return f"{verb} not" if standing == "denied" else verb


def sentence(who: Who, *parts: str) -> str:
    """Put the parts together with single spaces, without a mark at the end."""
    return " ".join(" ".join((who.shown, *(part for part in parts if part))).split()).rstrip(" ,.;:")


def a(noun: str) -> str:
    """Put the article before a noun in the singular."""
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"


def in_the_singular(noun: str) -> str:
    """ "productivity tools" becomes "a productivity tool"; what has no plural stays."""
    if noun.endswith("ies"):
        return a(noun[:-3] + "y")
    if noun.endswith(("ches", "shes", "xes", "sses")):
        return a(noun[:-2])
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is")):
        return a(noun[:-1])
    return noun
