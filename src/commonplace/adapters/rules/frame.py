"""How a verb with its object is read: which noun is the value, what a negation and the past make of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from commonplace.adapters.rules.clause import Clause, Finding, found
from commonplace.adapters.rules.group import is_verb, known_verbs
from commonplace.adapters.rules.lexicon import PREPOSITIONS, RELATIONS
from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.phrases import Phrase, cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.relations import called
from commonplace.adapters.rules.render import in_the_singular, third_person
from commonplace.adapters.rules.tokens import Token, surface, words
from commonplace.adapters.rules.verbs import inflect

Past = Literal["ended", "holds", "drop"]


@dataclass(frozen=True, slots=True)
class Frame:
    attribute: str
    verb: str
    """How the fact is written: "use", "work at"."""
    past: Past = "drop"
    """What the plain past says: that it is over, that it is so, or nothing certain."""
    negated: tuple[str, str] | None = None
    """The attribute and verb that a negation turns it into: not liking is disliking."""
    accepts: Callable[[Phrase], bool] | None = None
    one: bool = False
    """The object is one place or institution: "Ghent, Belgium" does not come apart."""
    through: frozenset[str] = frozenset()
    """Prepositions that belong to the value: "walks on the beach"."""


_NARROWING = frozenset({"that", "who", "which", "where", "i", "we", "they", "he", "she"})
"""A clause behind the noun makes it another, narrower thing: "games that test my nerves"."""
_NEVER = frozenset({"uses", "visited", "owns", "likes", "prefers"})
"""What "I have never …" denies. Not having studied something is no fact worth keeping."""
_TAIL = 8
_TAIL_ENDS = frozenset(
    {
        ",",
        "then",
        "but",
        "because",
        "so",
        "when",
        "while",
        "if",
        "that",
        "i",
        "we",
        "which",
        "who",
        "not",
        "and",
        "than",
        ":",
        "called",
        "named",
    }
)


def with_frame(clause: Clause, frame: Frame) -> list[Finding]:
    """Read the object as the frame says."""
    over = _over(clause, frame)
    if over is None:
        return []
    positive, negative = _objects(clause, frame)
    if clause.group.negated and not over and frame.attribute == "consumes" and _restricted(clause, positive):
        return []
    findings = [item for phrase, tail in positive for item in _one(clause, frame, phrase, tail, over=over)]
    return findings + [item for phrase in negative for item in _contrast(clause, frame, phrase)]


def _restricted(clause: Clause, objects: Sequence[tuple[Phrase, str]]) -> bool:
    """ "no coffee after three" does not avoid coffee."""
    return clause.often or any(
        tail.split(" ")[0] in {"after", "before", "at", "on", "during", "in", "when", "without"}
        for _, tail in objects
        if tail
    )


def _over(clause: Clause, frame: Frame) -> bool | None:
    """Say whether it is over; None when the tense says nothing certain."""
    group = clause.group
    if (
        group.negated
        and not clause.ended
        and (clause.low[-1:] == ("yet",) or group.tense != "present" and frame.attribute not in _NEVER)
    ):
        return None
    if (
        clause.ended
        or group.tense == "present"
        or "again" in clause.marks
        or "always" in group.adverbs
        or "never" in group.adverbs
    ):
        return clause.ended
    if group.tense == "perfect":
        return None if not (group.progressive or clause.lasting or frame.past == "holds") else False
    if group.progressive or frame.past == "drop" or _LONG_AGO.search(" ".join(words(clause.full))) is not None:
        return None
    return frame.past == "ended"


_LONG_AGO = Pattern(
    r"\b(?:back then|as an? (?:kid|child|boy|girl|teen|teenager|student)|when i was|growing up|in those days)\b"
)
"""What was liked then says nothing of now."""


_Object = tuple[Phrase, str]


def _objects(clause: Clause, frame: Frame) -> tuple[list[_Object], list[Phrase]]:
    """Return the objects with what follows each, and those that are said not to be meant."""
    tokens = list(clause.rest)
    inner = _verbal(_with_often(clause), bare=frame.attribute == "learns")
    if inner and frame.attribute in {"likes", "dislikes", "prefers", "learns"}:
        return ([(phrase, "") for phrase in inner], [])
    contrast = _contrasted(tokens)
    negative = coordinated(contrast[1]) if contrast is not None else []
    tokens = contrast[0] if contrast is not None else tokens
    if tokens and tokens[0].low == "neither":
        return ([], coordinated(tokens[: until_stop(tokens)]))
    end = until_stop(tokens, through=frame.through)
    phrases = _single(tokens[:end]) if frame.one else coordinated(tokens[:end])
    after = tokens[end:]
    if after and after[0].low in _NARROWING and phrases and not phrases[-1].named:
        phrases = phrases[:-1]
    if after and after[0].low in {"called", "named"} and phrases and (name := called(after)):
        phrases[-1] = phrases[-1]._replace(
            text=name,
            low=tuple(name.lower().split()),
            whole=f"{phrases[-1].whole} called {name}",
            definite="",
            named=True,
        )
    tail = tail_of(after)
    return ([*((phrase, tail) for phrase in phrases), *_further(after, frame)], negative)


def _with_often(clause: Clause) -> list[Token]:
    """The object with "at night" and the like: part of what one likes to do."""
    times = [moment for moment in clause.moments if moment.role != "often"]
    if len(times) == len(clause.moments):
        return list(clause.rest)
    end = clause.rest[-1].stop if clause.rest else 0
    begin = clause.rest[0].start if clause.rest else 0
    return [
        token
        for token in clause.full
        if begin <= token.start
        and not any(moment.start <= token.start < moment.stop for moment in times)
        and (token.start < end or clause.often)
    ]


def _further(tokens: Sequence[Token], frame: Frame) -> list[_Object]:
    """ "Italian with my kids and English with my husband": another object behind the complement of the first."""
    if frame.attribute not in {"speaks", "uses"}:
        return []
    for place in range(1, len(tokens) - 1):
        acts = any(is_verb(token.low, "third") for token in tokens[place + 2 : place + 3])
        listed = tokens[place].low in {",", "and"} and tokens[place + 1].named and not acts
        if listed and _tells_what_for(tokens[:place]):
            after = tokens[place + 1 :]
            end = until_stop(after)
            so_far = [(phrase, tail_of(after[end:])) for phrase in coordinated(after[:end])]
            return so_far + _further(after[end:], frame)
    return []


def _tells_what_for(tokens: Sequence[Token]) -> bool:
    """ "for notes", "with my kids": nothing with a name, so that a name behind it is no part of it."""
    return not any(token.named or token.low in _NARROWING for token in tokens)


def _single(tokens: Sequence[Token]) -> list[Phrase]:
    """One place: cut at "and", keep "Ghent, Belgium" together."""
    end = len(tokens)
    for place, token in enumerate(tokens):
        if token.low in {"and", "but", "or"} or (
            token.low == "," and not (place + 1 < len(tokens) and tokens[place + 1].named)
        ):
            end = place
            break
    phrase = cleaned(tokens[:end])
    return [phrase] if phrase is not None else []


def _verbal(tokens: Sequence[Token], *, bare: bool) -> list[Phrase]:
    """ "to cook Thai food" or "cooking Thai food" as one value; what one learns to do keeps its bare verb."""
    if len(tokens) > 2 and tokens[0].low == "how" and tokens[1].low == "to":
        tokens = tokens[1:]
    if (
        len(tokens) >= 2
        and tokens[0].low == "to"
        and (known := known_verbs().find(tokens[1].low)) is not None
        and known[1] == "base"
    ):
        if bare:
            inner = _whole(tokens[1:])
            return [inner._replace(whole=f"to {inner.text}")] if inner is not None else []
        gerund = inflect(known[0], "gerund")
        inner = _whole([tokens[1]._replace(text=gerund, low=gerund), *tokens[2:]])
        return [inner] if inner is not None else []
    if (
        len(tokens) < 2
        or not tokens[0].low.endswith("ing")
        or tokens[1].low in {"and", ",", "or", "with", "for", "but"}
    ):
        return []
    return [phrase for part in _gerunds(tokens) if (phrase := _whole(part)) is not None]


def _gerunds(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """ "baking bread and riding bikes" comes apart before each gerund."""
    parts: list[Sequence[Token]] = []
    begin = 0
    for place in range(1, len(tokens) - 1):
        if (
            tokens[place].low in {",", "and", "or"}
            and place >= begin
            and tokens[place + 1].low.endswith("ing")
            and not (tokens[place].low == "," and tokens[place - 2].low in {"a", "an", "the"})
        ):
            parts.append(tokens[begin:place])
            begin = place + 1
    return [*parts, tokens[begin:]]


def _whole(tokens: Sequence[Token]) -> Phrase | None:
    end = next(
        (
            place
            for place, token in enumerate(tokens)
            if token.low in {",", "but", "because", "when", "while", "if", "than", "i"}
        ),
        len(tokens),
    )
    if _cut_short(tokens, end):
        return None
    phrase = cleaned(tokens[:end])
    if phrase is None or vague(phrase):
        return None
    text = third_person(tokens[:end])
    return phrase._replace(text=text, whole=text) if len(phrase.low) == end else phrase


def _cut_short(tokens: Sequence[Token], end: int) -> bool:
    """ "creating a safe[, …]", "the friends [I have]", "talking about": half a phrase says something else"""
    if end < len(tokens) and tokens[end].low == "," and end > 1 and tokens[end - 2].low in {"a", "an", "the"}:
        return True
    if end == 2 and tokens[1].text.islower() and words(tokens[2:3]) == (",",) and "and" not in words(tokens[3:]):
        return True  # "using small, quick tools"
    if tokens[0].low in _SAYING_SO:
        return True
    return (end < len(tokens) and tokens[end].low == "i") or tokens[end - 1].low in {"about", "of", "with", "for", "to"}


_SAYING_SO = frozenset({"saying", "thinking", "believing", "seeing", "asking", "adding", "pointing"})


def _contrasted(tokens: Sequence[Token]) -> tuple[list[Token], list[Token]] | None:
    """ "cats but not dogs", "Vim, not Emacs" """
    for place, token in enumerate(tokens):
        if token.low == "not" and place and tokens[place - 1].low in {"but", ",", "and"}:
            after = list(tokens[place + 1 :])
            return (list(tokens[: place - 1]), after[: until_stop(after)])
    return None


_FRANKLY = {(word,) for word in ("honest", "fair", "frank", "clear", "sure", "exact", "precise")}


def tail_of(tokens: Sequence[Token]) -> str:
    """The complement that makes the text richer: "as a productivity tool", "for work". Long or clausal ones are
    left out."""
    end = next((place for place, token in enumerate(tokens) if token.low in _TAIL_ENDS), len(tokens))
    kept = tokens[:end]
    if not kept or len(kept) > _TAIL or kept[-1].low in PREPOSITIONS:
        return ""
    if words(kept[:2]) == ("to", "be") and words(kept[2:]) in _FRANKLY:
        return ""
    if kept[0].low == "as" and len(kept) > 1 and kept[1].low not in {"a", "an", "the", "my"}:
        return f"as {in_the_singular(surface(kept[1:]))}"
    return third_person(kept)


def _one(clause: Clause, frame: Frame, phrase: Phrase, tail: str, *, over: bool) -> list[Finding]:
    if phrase.definite in {"my", "our"} and phrase.head in RELATIONS and frame.attribute in {"likes", "dislikes"}:
        return []
    if (
        vague(phrase)
        and frame.attribute not in {"employer", "member_of"}
        or (frame.accepts is not None and not frame.accepts(phrase))
    ):
        return []
    if clause.group.negated and not over and frame.negated is not None:
        attribute, verb = frame.negated
        return [
            found(clause, attribute, phrase, verb, tail=tail, standing="holds")
            if not verb.startswith("not ")
            else _negative(clause, attribute, phrase, verb, tail)
        ]
    return [found(clause, frame.attribute, phrase, frame.verb, tail=tail, standing="ended" if over else None)]


def _negative(clause: Clause, attribute: str, phrase: Phrase, verb: str, tail: str) -> Finding:
    plain = found(clause, attribute, phrase, verb.removeprefix("not "), tail=tail, standing="denied")
    return replace(plain, standing="holds")


def _contrast(clause: Clause, frame: Frame, phrase: Phrase) -> list[Finding]:
    if vague(phrase):
        return []
    if frame.negated is not None and frame.attribute == "likes":
        return [found(clause, "dislikes", phrase, "dislike", standing="holds")]
    return [found(clause, frame.attribute, phrase, frame.verb, standing="denied")]
