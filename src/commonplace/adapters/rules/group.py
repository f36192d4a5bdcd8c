"""The verb group of a clause: which verb, which time, said or denied, still or no longer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from commonplace.adapters.rules.lexicon import ADVERBS
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.verblist import VERBS
from commonplace.adapters.rules.verbs import Form, Verbs, base_of_gerund
from commonplace.adapters.rules.wordsets import word_set

Tense = Literal["present", "past", "perfect"]

_BE = {
    "am": "present",
    "is": "present",
    "are": "present",
    "'s": "present",
    "was": "past",
    "were": "past",
    "been": "present",
    "be": "present",
}
_HAVE = {"have": "present", "has": "present", "had": "past"}
_DO = {"do": "present", "does": "present", "did": "past"}
_MODALS = frozenset({"will", "would", "can", "could", "should", "might", "may", "must", "shall"})
_PASSIVES = word_set("diagnosed born fired hired laid promoted based raised named called located")
_FORCED = word_set(
    "give quit stop sell cancel move leave put drop cut switch resign retire delete return relocate uninstall rehome"
    " replace"
)
"""What one had to do in order to change something is done: "I had to sell my car"."""
_MERELY = frozenset({"only", "just", "simply"})
_NOT_GERUNDS = frozenset(
    {"nothing", "something", "anything", "everything", "king", "boring", "interesting", "amazing", "morning", "evening"}
)


@dataclass(frozen=True, slots=True)
class Group:
    lemma: str
    tense: Tense
    rest: int
    """Where the words after the verb begin."""
    progressive: bool = False
    passive: bool = False
    negated: bool = False
    ended: bool = False
    """ "no longer", "used to"; "anymore" is found by the clause."""
    modal: str = ""
    adverbs: frozenset[str] = frozenset()

    @property
    def factual(self) -> bool:
        """Nothing but time and negation stands between the speaker and the verb."""
        return not self.modal


@cache
def known_verbs() -> Verbs:
    return Verbs(VERBS)


def is_verb(word: str, *forms: Form) -> bool:
    found = known_verbs().find(word)
    return found is not None and (not forms or found[1] in forms)


class _Reading:
    """What has been seen of the group so far."""

    __slots__ = ("adverbs", "ended", "modal", "negated", "pending", "perfect", "tense")

    def __init__(self) -> None:
        self.pending = ""
        self.tense: Tense = "present"
        self.perfect = False
        self.negated = False
        self.ended = False
        self.modal = ""
        self.adverbs: set[str] = set()

    def auxiliary(self, low: str) -> bool:
        """Take the word as an auxiliary if it can be one here."""
        if low in _MODALS and not self.pending:
            self.modal = low
        elif low in _BE and (not self.pending or (low == "been" and self.pending == "have")):
            self.perfect = self.perfect or self.pending == "have"
            self.pending, self.tense = "be", "past" if _BE[low] == "past" else self.tense
        elif low in _HAVE and not self.pending:
            self.pending, self.tense = "have", "past" if _HAVE[low] == "past" else self.tense
        elif low in _DO and not self.pending:
            self.pending, self.tense = "do", "past" if _DO[low] == "past" else self.tense
        else:
            return False
        return True

    def adverb(self, low: str) -> bool:
        if low in {"not", "never"}:
            self.negated = not self.ended
        elif low in _MERELY and self.negated and "never" not in self.adverbs:
            self.negated = False  # "I don't just use Vim": that, and more
        if low in ADVERBS or low == "not":
            self.adverbs.add(low)
            return True
        return False

    def close(
        self, lemma: str, rest: int, *, past: bool = False, progressive: bool = False, passive: bool = False
    ) -> Group:
        tense: Tense = "perfect" if self.perfect else "past" if past else self.tense
        return Group(
            lemma=lemma,
            tense=tense,
            rest=rest,
            progressive=progressive,
            passive=passive,
            negated=self.negated,
            ended=self.ended,
            modal=self.modal,
            adverbs=frozenset(self.adverbs),
        )


def verb_group(tokens: Sequence[Token]) -> Group | None:
    """Read the verb group at the start of the tokens; None when there is none."""
    reading = _Reading()
    at = 0
    while at < len(tokens):
        low = tokens[at].low
        if low == "no" and at + 1 < len(tokens) and tokens[at + 1].low == "longer":
            reading.ended = True
            at += 2
        elif _used_to(tokens, at) and reading.pending != "be":
            reading.ended = True
            reading.pending = ""
            at += 2
        elif reading.adverb(low) or reading.auxiliary(low):
            at += 1
        else:
            break
    return _main(reading, tokens, at)


def _used_to(tokens: Sequence[Token], at: int) -> bool:
    return (
        at + 2 < len(tokens)
        and tokens[at].low in {"used", "use"}
        and tokens[at + 1].low == "to"
        and is_verb(tokens[at + 2].low, "base", "past")
    )


def _main(reading: _Reading, tokens: Sequence[Token], at: int) -> Group | None:
    low = tokens[at].low if at < len(tokens) else ""
    if reading.pending == "be":
        return _after_be(reading, tokens, at, low)
    found = known_verbs().find(low)
    if reading.pending == "have":
        return _after_have(reading, tokens, at, found)
    if reading.pending == "do":
        if found is not None and found[1] in {"base"}:
            return reading.close(found[0], at + 1)
        return reading.close("do", at)
    if found is None or found[1] in {"gerund", "participle"}:
        return None
    return reading.close(found[0], at + 1, past=found[1] == "past")


def _after_be(reading: _Reading, tokens: Sequence[Token], at: int, low: str) -> Group:
    if low == "going" and at + 2 < len(tokens) and tokens[at + 1].low == "to" and _infinitive(tokens[at + 2]):
        reading.modal = "going"
        return reading.close(_lemma(tokens[at + 2].low), at + 3)
    if low.endswith("ing") and len(low) > 4 and low not in _NOT_GERUNDS:
        found = known_verbs().find(low)
        return reading.close(found[0] if found else base_of_gerund(low), at + 1, progressive=True)
    if low in _PASSIVES:
        return reading.close(low, at + 1, passive=True)
    return reading.close("be", at)


def _after_have(reading: _Reading, tokens: Sequence[Token], at: int, found: tuple[str, Form] | None) -> Group:
    low = tokens[at].low if at < len(tokens) else ""
    if low == "got":
        return reading.close("have", at + 1)
    if low == "to" and reading.tense == "past" and not reading.negated and at + 1 < len(tokens):
        forced = tokens[at + 1].low
        if forced in _FORCED:
            return reading.close(forced, at + 2, past=True)
    if low == "to":
        reading.modal = "must"
        return reading.close("have", at)
    if (
        found is not None
        and found[1] in {"past", "participle"}
        or low in {"read", "quit", "run", "come", "become", "cut"}
    ):
        reading.perfect = True
        return reading.close(found[0] if found else low, at + 1)
    if found is None and low.endswith("ed") and len(low) > 4:
        reading.perfect = True
        return reading.close(low, at + 1)
    return reading.close("have", at)


def _infinitive(token: Token) -> bool:
    return is_verb(token.low, "base") or (token.text.islower() and token.low not in {"the", "a", "my", "our", "see"})


def _lemma(word: str) -> str:
    found = known_verbs().find(word)
    return found[0] if found is not None else word
