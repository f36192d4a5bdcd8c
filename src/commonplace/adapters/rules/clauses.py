"""Cutting a sentence into clauses, and a predicate into its verbs: "I live in Ulm and work at a bank, but my wife
is a pilot"."""

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.adapters.rules.group import is_verb
from commonplace.adapters.rules.lexicon import ADVERBS, PLURAL_RELATIONS, PREPOSITIONS, RELATIONS, SUBJECTS
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.wordsets import word_set

_JOINING = frozenset(
    {
        "and",
        "but",
        "so",
        "because",
        "as",
        "although",
        "though",
        "while",
        "whereas",
        "plus",
        "yet",
        "since",
        "cause",
        "cuz",
        "also",
        "then",
    }
)
_HANGING = frozenset(
    {
        "when",
        "whenever",
        "if",
        "unless",
        "until",
        "before",
        "after",
        "once",
        "whether",
        "where",
        "that",
        "who",
        "which",
        "how",
        "why",
        "what",
        "than",
        "or",
        "whose",
    }
)
"""What follows these is not stated: a time, a condition, a question, an alternative."""
_RELATIVE = frozenset({"who", "which", "whose", "whom"})
_FINITE = frozenset(
    {
        "is",
        "are",
        "was",
        "were",
        "'s",
        "has",
        "have",
        "had",
        "does",
        "do",
        "did",
        "will",
        "can",
        "would",
        "just",
        "really",
        "always",
        "also",
        "and",
    }
)
_INVERTED = word_set(
    "what where when who why how which do does did is are can could would will should am was were have has any"
)
_DAYS = word_set("today tomorrow yesterday tonight nowadays lately")
_OWNING = frozenset({"my", "our"})


class Chunk(NamedTuple):
    link: str
    """The word that joins it to what stands before; empty for the first one."""
    tokens: list[Token]

    @property
    def stated(self) -> bool:
        return self.link not in _HANGING

    @property
    def asks(self) -> bool:
        return bool(self.tokens) and self.tokens[0].low in _INVERTED


def chunks(tokens: Sequence[Token]) -> list[Chunk]:
    found: list[Chunk] = []
    link, begin, at = "", 0, 0
    while at < len(tokens):
        opened = _opening(tokens, at)
        if opened is None:
            at += 1
            continue
        if at > begin:
            found.append(Chunk(link, list(tokens[begin:at])))
        link, at = opened
        begin = at
        at += 1
    if begin < len(tokens):
        found.append(Chunk(link, list(tokens[begin:])))
    return found


def _opening(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    """Say whether a new clause begins here: its link, and where its words start."""
    low = tokens[at].low
    if low in {";", "(", ")", "–", "—", "…"} or (low == "-" and at):
        return (low, at + 1)
    if low == "i" and at and tokens[at - 1].low in {"anymore", "again", "now", "too", "longer"}:
        return (",", at)
    if low in {",", ":"}:
        return _after_comma(tokens, at + 1, low)
    if low in _RELATIVE and at and tokens[at - 1].low == ",":
        return (low, at + 1)
    if low in _JOINING or low in _HANGING:
        if low == "since" and _words(tokens, at + 1, 2) in {("i", "was"), ("my", "childhood")}:
            return None
        after = _skip(tokens, at + 1)
        if opens(tokens, after) and not (low == "and" and _shares_subject(tokens, at, after)):
            return (low, after)
    return None


def _shares_subject(tokens: Sequence[Token], at: int, after: int) -> bool:
    """ "my wife and I live …", "Theo and I live …" are one subject."""
    if tokens[after].low not in {"i", "my"} or at > 5 or at == 0:
        return False
    if tokens[after].low == "i" and tokens[at - 1].named:
        begin = next((place for place in range(at, 0, -1) if not tokens[place - 1].named), 0)
        if all(token.low in ADVERBS | _JOINING | {","} for token in tokens[:begin]):
            return tokens[begin].low not in SUBJECTS
    return tokens[0].low in {"my", "me", "our", "both"} and not any(
        is_verb(token.low) or token.low in _FINITE for token in tokens[1:at]
    )


def _after_comma(tokens: Sequence[Token], at: int, mark: str) -> tuple[str, int] | None:
    link = ""
    if at < len(tokens) and tokens[at].low in _JOINING | _HANGING and not _question(tokens, at):
        link = tokens[at].low
        at += 1
    after = _skip(tokens, at)
    if opens(tokens, after):
        return (link or mark, after)
    if after < len(tokens) - 1 and tokens[after].low in _INVERTED and not link:
        return (mark, after)
    return (link or mark, after) if mark == "," and _another_begins(tokens, after) else None


_FELT = word_set("me my us so great good awful like really too amazing terrible better")
_TELLING = word_set("is are was were has have had does do did will would can could")


def _another_begins(tokens: Sequence[Token], at: int) -> bool:
    """Say whether a noun with its verb stands here, or a verb of what was just named: "I have a dog, the neighbours
    have two cats", "I avoid dairy, makes me sick"."""
    if at + 2 < len(tokens):
        noun, verb = tokens[at], tokens[at + 1]
        if is_verb(noun.low, "third") and verb.low in _FELT:
            return True
        if noun.named and verb.text.islower() and is_verb(verb.low, "third"):
            return True
    for place in range(at, min(at + 5, len(tokens) - 1)):
        low = tokens[place].low
        if place > at and low in _TELLING:
            return True
        if low in {",", ":", "(", "and", "or", "i", "we", "my", "our"} or low in PREPOSITIONS or low in _RELATIVE:
            return False
    return False


def _question(tokens: Sequence[Token], at: int) -> bool:
    """ "…, what is the weather like" """
    return tokens[at].low in {"what", "how", "why", "where", "who", "which", "when"} and not opens(tokens, at + 1)


def _skip(tokens: Sequence[Token], at: int) -> int:
    """Step over "also", "now", "at work" and the like before a subject."""
    while at < len(tokens) and (tokens[at].low in ADVERBS or tokens[at].low in {"then", "yes", "no", "sorry", "and"}):
        at += 1
    if _words(tokens, at, 1) and tokens[at].low in _DAYS:
        at += 1
    elif _words(tokens, at, 1) and tokens[at].low in {"last", "this", "next", "these"} and opens(tokens, at + 2):
        at += 2
    if _words(tokens, at, 1) in {("at",), ("in",), ("for",), ("on",)} and _words(tokens, at + 2, 1) in {
        ("i",),
        ("we",),
    }:
        at += 2
    return at


def _words(tokens: Sequence[Token], at: int, count: int) -> tuple[str, ...]:
    return tuple(token.low for token in tokens[at : at + count])


def opens(tokens: Sequence[Token], at: int) -> bool:
    """Say whether a subject with its verb stands here."""
    if at >= len(tokens):
        return False
    low = tokens[at].low
    if low in {"i", "we"}:
        return at + 1 < len(tokens)
    if low in SUBJECTS:
        return at + 1 < len(tokens) and (
            tokens[at + 1].low in _FINITE or is_verb(tokens[at + 1].low) or tokens[at + 1].low in ADVERBS
        )
    if low in _OWNING:
        if _kin_acts(tokens, at):
            return True
        if at + 2 < len(tokens) and _looks_done(tokens[at + 2]):
            return True
        return any(_verb_after(tokens, place) for place in range(at + 2, min(at + 7, len(tokens))))
    return False


def _looks_done(token: Token) -> bool:
    """ "my epipen expired": right behind its noun, a word that ends so is what it did."""
    return token.text.islower() and token.low.endswith("ed") and len(token.low) > 5


def _kin_acts(tokens: Sequence[Token], at: int) -> bool:
    """ "my boss yells at …": behind someone of the user's, a verb that is not on the list is one by its form."""
    if at + 3 >= len(tokens) or tokens[at + 1].low not in RELATIONS or tokens[at + 1].low in PLURAL_RELATIONS:
        return False
    verb = tokens[at + 2]
    return (
        verb.text.islower() and verb.low.endswith("s") and len(verb.low) > 3 and verb.low not in PREPOSITIONS | ADVERBS
    )


def _verb_after(tokens: Sequence[Token], at: int) -> bool:
    low = tokens[at].low
    if low in {",", "and", "or", "in", "at", "on", "for", "with", "to"} and not (
        low == "and" and _words(tokens, at + 1, 1) == ("i",)
    ):
        return False
    return low in _FINITE - {"and"} or is_verb(low, "third", "past", "base")


def verb_phrases(tokens: Sequence[Token], *, third: bool) -> list[list[Token]]:
    """Cut "live in Ulm and work at a bank" before each further verb of the same subject.

    A verb that shares a mood with the first ("can cook and drive", "want to move and buy …") is cut off and left
    out; one that shares its negation ("don't smoke or drink") gets it.
    """
    cuts = _cuts(tokens, third=third)
    found: list[list[Token]] = []
    for begin, end in zip([0, *(after for _, after in cuts)], [*(at for at, _ in cuts), len(tokens)], strict=True):
        piece = list(tokens[begin:end])
        if not found or not piece:
            found.append(piece)
            continue
        base = is_verb(piece[0].low, "base") and piece[0].low not in {"have", "am", "do"}
        if base and _denied(found[0]):
            found.append([*found[0][:2], *piece])
        elif not (base and _mooded(found[0])):
            found.append(piece)
    return [piece for piece in found if piece]


def _cuts(tokens: Sequence[Token], *, third: bool) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    at = 1
    denied = _denied(tokens)
    while at < len(tokens) - 1:
        if tokens[at].low in {"and", "but", ",", "then"} or (tokens[at].low == "or" and denied):
            after = at + 1
            while after < len(tokens) - 1 and tokens[after].low in {"and", "but", "then"} | ADVERBS:
                after += 1
            if tokens[at - 1].low == "born":
                break
            lone = tokens[at].low == "," and after == at + 1
            if _verb_here(tokens, after, third=third, denied=denied) and not (lone and tokens[after].low == "like"):
                cuts.append((at, at + 1 if tokens[at + 1].low not in {"and", "but", "then"} else at + 2))
                at = after
        at += 1
    return cuts


def _denied(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 2 and tokens[0].low in {"do", "does"} and tokens[1].low in {"not", "never"}


def _mooded(tokens: Sequence[Token]) -> bool:
    """The first verb stands in a mood or opens on an infinitive."""
    if tokens and tokens[0].low in {"can", "will", "would", "could", "should", "might", "may", "must"}:
        return True
    return any(
        token.low == "to" and place + 1 < len(tokens) and is_verb(tokens[place + 1].low, "base")
        for place, token in enumerate(tokens)
    )


def _verb_here(tokens: Sequence[Token], at: int, *, third: bool, denied: bool = False) -> bool:
    low = tokens[at].low
    if denied and is_verb(low, "base") and tokens[at - 1].low == "or":
        return True
    if at >= len(tokens) - 1 or tokens[at + 1].low in {",", "and", "or"}:
        return False
    if low in {"am", "is", "are", "was", "have", "has", "had", "do", "does", "did", "can", "no", "never", "will"}:
        return low != "no" or tokens[at + 1].low == "longer"
    if not tokens[at].text.islower():
        return False
    return is_verb(low, "third", "past") if third else is_verb(low, "base", "past")
