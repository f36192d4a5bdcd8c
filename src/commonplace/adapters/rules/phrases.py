"""Noun phrases: where they end, how "A, B and C" comes apart, and which of them are too vague to be worth keeping."""

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.adapters.rules.lexicon import ADVERBS, DETERMINERS, NUMBERS, POINTING, PREPOSITIONS
from commonplace.adapters.rules.tokens import Token, surface, words
from commonplace.adapters.rules.topics import FIXED_PAIRS
from commonplace.adapters.rules.wordsets import word_set

_LONGEST = 9
_AND = frozenset({"and", "or", "&", "nor", "plus"})
_QUANTIFIERS = (
    ("a", "bit", "of"),
    ("a", "lot", "of"),
    ("a", "little", "bit", "of"),
    ("a", "little"),
    ("lots", "of"),
    ("a", "couple", "of"),
    ("a", "bit"),
    ("a", "pair", "of"),
    ("all", "kinds", "of"),
    ("all", "sorts", "of"),
    ("plenty", "of"),
    ("a", "few"),
    ("both",),
    ("either",),
    ("neither",),
    ("some",),
    ("any",),
    ("only",),
    ("mostly",),
    ("mainly",),
    ("also",),
    ("just",),
    ("fluent",),
    ("basic",),
    ("conversational",),
    ("broken",),
    ("my", "own"),
    ("our", "own"),
    ("maybe",),
    ("even",),
    ("really",),
    ("most",),
    ("primarily",),
    ("sometimes",),
    ("occasionally",),
    ("all",),
    ("pretty", "good"),
    ("a", "whole", "lot", "of"),
    ("everything", "about"),
    ("anything", "with"),
    ("the", "taste", "of"),
    ("the", "smell", "of"),
    ("especially",),
    ("particularly",),
    ("a", "little", "of"),
    ("the", "sound", "of"),
)
_TRAILING = word_set(
    "too now again anymore well daily instead though alone together today already lately recently mostly mainly"
    " actually either lol haha even worse badly less"
    " regularly occasionally sometimes often usually though btw please thanks everywhere anyway ok okay"
    " full-time part-time fulltime still"
    " more better most currently fluently poorly yet ever once twice already though online again! tho rn etc"
)
_TRAILING_PAIRS = frozenset(
    {
        ("a", "lot"),
        ("very", "much"),
        ("so", "much"),
        ("too", "much"),
        ("at", "all"),
        ("after", "all"),
        ("as", "well"),
        ("a", "bit"),
        ("a", "little"),
        ("the", "most"),
        ("the", "best"),
        ("any", "more"),
        ("any", "longer"),
        ("you", "know"),
        ("right", "now"),
        ("quite", "well"),
        ("by", "myself"),
        ("pretty", "well"),
        ("a", "ton"),
        ("very", "well"),
        ("to", "death"),
        ("these", "days"),
        ("all", "that"),
        ("that", "much"),
        ("a", "day"),
        ("a", "week"),
        ("per", "day"),
        ("per", "week"),
    }
)
_GENERIC_THE = word_set(
    "gym beach sea ocean mountains outdoors office city countryside piano guitar violin cello trumpet flute"
    " drums harp banjo saxophone bass"
    " ukulele clarinet news sun cold heat winter summer rain snow forest water internet subway metro bus train"
    " smell sound taste color colour"
    " theatre theater opera cinema moon stars northern arts dark bagpipes accordion trombone organ viola oboe"
    " lake dentist environment city"
    ""
)


_POINTS = word_set("this that these those it him her them you your was were is are will similar me i we they")


class Phrase(NamedTuple):
    text: str
    """Without its article: "Honda"."""
    low: tuple[str, ...]
    start: int
    stop: int
    whole: str
    """With it: "a Honda"."""
    definite: str
    """The word that points at something already known ("the", "my"), or nothing."""
    named: bool

    @property
    def head(self) -> str:
        """The noun: the last word before an "of"."""
        for place, low in enumerate(self.low):
            if low in {"of", "in", "with", "for", "from", "at", "about", "near", "to"} and place:
                return self.low[place - 1]
        return self.low[-1] if self.low else ""


def until_stop(tokens: Sequence[Token], *, through: frozenset[str] = frozenset()) -> int:
    """Return where a noun phrase (or a row of them) ends: before a preposition, a clause word or a pronoun."""
    for place, token in enumerate(tokens):
        low = token.low
        if low in {"i", "we", "he", "she", "they", "(", ")", ";", "-", "–", "—", "…"} and place:
            return place
        if low == "each" and words(tokens[place + 1 : place + 2]) == ("other",):
            continue
        if low in PREPOSITIONS and low not in through and not (token.named and place and tokens[place - 1].named):
            return place
        if low == "to" and "to" not in through:
            return place
    return len(tokens)


def _pieces(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Return what stands between commas and "and", as far as each is a thing of its own."""
    begin = 0
    found: list[tuple[int, int]] = []
    for place, token in enumerate(tokens):
        if token.low in {",", ":"} or (token.low in _AND and not (token.named and place) and not _fixed(tokens, place)):
            found.append((begin, place))
            begin = place + 1
    kept: list[tuple[int, int]] = []
    for start, stop in [*found, (begin, len(tokens))]:
        if start == stop:
            continue
        if kept and _goes_inside(tokens[kept[-1][0] : kept[-1][1]], tokens[start:stop]):
            start = kept.pop()[0]
        kept.append((start, stop))
    return [tokens[start:stop] for start, stop in kept]


_INNER = word_set("of about with by for in on at from like how what when that why who")


def _goes_inside(before: Sequence[Token], piece: Sequence[Token]) -> bool:
    """ "books about Rome and war", "the joy of cooking and eating": the second belongs behind "about" and "of", too"""
    if piece[0].low in DETERMINERS or piece[0].low in NUMBERS:
        return False
    before = before[_lead(before) :]
    inner = next((place for place, token in enumerate(before) if token.low in _INNER), None)
    if inner is None or inner + 1 >= len(before):
        return False
    return not piece[0].low.endswith("ing") or before[inner + 1].low.endswith("ing")


def _fixed(tokens: Sequence[Token], place: int) -> bool:
    if not 0 < place < len(tokens) - 1:
        return False
    if tokens[place].low == "&":
        return True
    near = words(tokens[max(0, place - 2) : place + 2])
    return " ".join(near[-3:]) in FIXED_PAIRS or " ".join(near) in FIXED_PAIRS


def coordinated(tokens: Sequence[Token]) -> list[Phrase]:
    """Return the phrases of "A, B and C", each cleaned."""
    pieces = _pieces(tokens)
    if (
        len(pieces) == 2
        and (len(pieces[0]) == 1 or pieces[0][-2].low in {"a", "an"})
        and len(pieces[1]) > 1
        and pieces[0][-1].text.islower()
        and _AND.isdisjoint(words(tokens))
    ):
        pieces = [tokens]
    return [phrase for piece in pieces if (phrase := cleaned(piece)) is not None]


def cleaned(tokens: Sequence[Token]) -> Phrase | None:
    """Return the phrase without articles in front and fillers behind; None when nothing is left."""
    begin, end = _lead(tokens), len(tokens)
    outer = begin
    definite = ""
    while (
        begin < end
        and tokens[begin].low in DETERMINERS
        and not (tokens[begin].low == "one" and begin + 1 < end and tokens[begin + 1].low == "of")
    ):
        definite = tokens[begin].low if tokens[begin].low in {"the", "my", "our"} else definite
        if (
            tokens[begin].low == "the"
            and tokens[begin].named
            and begin + 1 < end
            and tokens[begin + 1].named
            and begin > 0
        ):
            break
        begin += 1
    end = _trail(tokens, begin, end)
    if begin >= end or end - begin > _LONGEST:
        return None
    inner = tokens[begin:end]
    if tokens[begin - 1].text == "The" and begin == outer + 1 and inner[0].named:
        inner, definite = tokens[begin - 1 : end], ""
    return Phrase(
        text=surface(inner),
        low=words(inner),
        start=inner[0].start,
        stop=inner[-1].stop,
        whole=surface(tokens[outer:end]),
        definite=definite,
        named=any(token.named for token in inner),
    )


def _lead(tokens: Sequence[Token]) -> int:
    low = words(tokens[:4])
    for quantifier in _QUANTIFIERS:
        if low[: len(quantifier)] == quantifier and len(tokens) > len(quantifier):
            return len(quantifier) + _lead(tokens[len(quantifier) :])
    return 0


def _trail(tokens: Sequence[Token], begin: int, end: int) -> int:
    while end > begin:
        last = tokens[end - 1]
        if (
            (last.low in _TRAILING and not (last.named and end - begin > 1))
            or last.low in {"of", "for", "with", "by"}
            or not any(sign.isalnum() for sign in last.text)
            and last.low not in {"'s", "'"}
            or (last.low in ADVERBS and end - begin > 1 and not last.named)
        ):
            end -= 1
        elif end - begin > 1 and (tokens[end - 2].low, last.low) in _TRAILING_PAIRS:
            end -= 2
        else:
            return end
    return end


def vague(phrase: Phrase) -> bool:
    """Points at something outside the sentence ("it", "the second option", "your idea"), or says nothing."""
    if (
        phrase.low[0] in POINTING
        or phrase.low[-1] in {"thing", "things", "stuff", "one", "ones"}
        or phrase.low == ("going",)
        or ADVERBS.issuperset(phrase.low)
        or not _POINTS.isdisjoint(phrase.low)
    ):
        return True
    if phrase.low[0] in {"option", "version", "answer", "choice", "step", "example", "lot", "bit"}:
        return True
    return phrase.definite == "the" and not phrase.named and phrase.low[0] not in _GENERIC_THE
