""" "a nurse at St. Mary's", "a big fan of jazz", "a morning person": what a noun behind "I am" says."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.frames import is_place, is_workplace
from commonplace.adapters.rules.lexicon import RELATIONS
from commonplace.adapters.rules.phrases import Phrase, cleaned
from commonplace.adapters.rules.render import a, sentence
from commonplace.adapters.rules.tokens import Token, surface, words
from commonplace.adapters.rules.topics import (
    DIETS,
    NATIONALITIES,
    NOT_PROFESSIONS,
    PARENT_WORDS,
    PEOPLE_TRAITS,
    PROFESSION_ENDINGS,
    PROFESSIONS,
    RELIGIONS,
)
from commonplace.domain.claims import Standing

_POINTS = frozenset({"it", "this", "that", "these", "those", "you", "your", "yours", "them"})
_STOPS = frozenset(
    {
        "at",
        "for",
        "from",
        "in",
        "with",
        "who",
        "that",
        "based",
        "by",
        "on",
        "to",
        "and",
        ",",
        "working",
        "living",
        "when",
        "because",
        "specialising",
        "specializing",
        "turned",
    }
)
_LEARNERS = frozenset(
    {"student", "undergrad", "undergraduate", "postgrad", "sophomore", "freshman", "senior", "junior"}
)
_EMPLOYER = Frame("employer", "work at", past="ended", one=True, accepts=is_workplace)
_EMPLOYER_FOR = Frame("employer", "work for", past="ended", one=True, accepts=is_workplace)
_ORIGIN = Frame("hometown", "be from", past="holds", one=True, accepts=is_place)
_HOME = Frame("home", "be based in", past="ended", one=True, accepts=is_place)


_AFTER: dict[str, Frame] = {"at": _EMPLOYER, "from": _ORIGIN, "for": _EMPLOYER_FOR, "with": _EMPLOYER_FOR}


def nominal(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    """Read one noun phrase, with what hangs on it."""
    tokens = _without_filler(tokens)
    if words(tokens)[1:4] == ("stay", "at", "home"):
        tokens = [tokens[0], tokens[1]._replace(text="stay-at-home", low="stay-at-home"), *tokens[4:]]
    articled = bool(tokens) and tokens[0].low in {"a", "an", "the"}
    body = tokens[1:] if articled else tokens
    if not body:
        return []
    end = next((place for place, token in enumerate(body) if token.low in _STOPS), len(body))
    head, after = body[:end], body[end:]
    if not head:
        return []
    age, head = _aged(clause, head)
    phrase = cleaned(head) if head else None
    if phrase is None:
        return age + _attached(clause, after)
    findings = _read(clause, phrase, after, articled=articled)
    if not findings:
        return age
    if findings[-1].attribute == "job" and phrase.low[-1] in _LEARNERS and after and after[0].low in {"in", "at"}:
        return age + findings + _studies(clause, after)
    return (
        age + findings + (_attached(clause, after) if findings[-1].attribute in {"job", "nationality", "trait"} else [])
    )


def _without_filler(tokens: Sequence[Token]) -> Sequence[Token]:
    low = words(tokens)
    for filler in (("a", "bit", "of"), ("kind", "of"), ("sort", "of"), ("one", "of"), ("also",), ("now",)):
        if low[: len(filler)] == filler:
            return tokens[len(filler) :]
    return tokens


def _aged(clause: Clause, tokens: Sequence[Token]) -> tuple[list[Finding], Sequence[Token]]:
    """ "29 year old architect" """
    low = words(tokens)
    number = low[0].removesuffix("-year-old").removesuffix("yo")
    if not number.isdecimal():
        return ([], tokens)
    width = 3 if low[1:3] in {("year", "old"), ("years", "old")} else 1 if number != low[0] else 0
    return ([found(clause, "age", number, "be", tail="years old")], tokens[width:]) if width else ([], tokens)


def _read(clause: Clause, phrase: Phrase, after: Sequence[Token], *, articled: bool) -> list[Finding]:
    low, head = phrase.low, phrase.low[-1]
    if "of" in low:
        return _of(clause, phrase)
    joined = " ".join(low)
    if joined in DIETS:
        return [_is(clause, "diet", phrase)]
    if joined in PEOPLE_TRAITS or " ".join(low[-2:]) in PEOPLE_TRAITS or (head == "person" and len(low) == 2):
        return [_is(clause, "trait", phrase)] if clause.group.tense == "present" or clause.ended else []
    if head in RELIGIONS or (head in NATIONALITIES and len(low) == 1 and not articled):
        return [_is(clause, "religion" if head in RELIGIONS else "nationality", phrase)]
    if len(low) > 1 and head in {"lover", "enthusiast", "fan", "nut", "addict", "buff", "geek", "nerd", "fanatic"}:
        return _wordlike(clause, phrase, "likes", "like")
    if len(low) > 1 and head == "user":
        return _wordlike(clause, phrase, "uses", "use")
    if len(low) > 1 and head == "speaker":
        return _wordlike(clause, phrase, "speaks", "speak")
    return _job(clause, phrase, articled=articled, after=after)


def _wordlike(clause: Clause, phrase: Phrase, attribute: str, verb: str) -> list[Finding]:
    """ "a heavy Excel user", "a huge jazz fan": the thing stands before the noun."""
    skipped = {
        "big",
        "huge",
        "heavy",
        "massive",
        "native",
        "fluent",
        "long-time",
        "longtime",
        "avid",
        "total",
        "daily",
        "keen",
        "real",
        "passionate",
        "lifelong",
    }
    kept = phrase.text.split(" ")[:-1]
    while kept and kept[0].lower() in skipped:
        kept = kept[1:]
    if not kept:
        return []
    if kept[-1].lower() in RELATIONS and not kept[-1].endswith("s"):
        kept[-1] += "s"
    if clause.group.negated and attribute == "likes" and not clause.ended:
        return [found(clause, "dislikes", " ".join(kept), "dislike", standing="holds")]
    return [found(clause, attribute, " ".join(kept), verb)]


def _of(clause: Clause, phrase: Phrase) -> list[Finding]:
    at = phrase.low.index("of")
    noun, thing = phrase.low[at - 1] if at else "", " ".join(phrase.text.split(" ")[at + 1 :])
    thing = thing.removeprefix("both ")
    if not thing:
        return []
    if noun in {"fan", "lover", "admirer"}:
        if clause.group.negated and not clause.ended:
            return [found(clause, "dislikes", thing, "dislike", standing="holds")]
        return [found(clause, "likes", thing, "be a fan of")] if _POINTS.isdisjoint(phrase.low[at + 1 :]) else []
    if noun == "member":
        return [found(clause, "member_of", thing.removeprefix("the ").removeprefix("a "), "be a member of")]
    if noun in PARENT_WORDS:
        return [
            told(
                clause,
                "child" if not noun.startswith("grand") else "relative",
                thing,
                sentence(clause.who, "is", f"{a(noun)} of {thing}"),
            )
        ]
    return _job(clause, phrase, articled=True, after=()) if noun in PROFESSIONS else []


def _job(clause: Clause, phrase: Phrase, *, articled: bool, after: Sequence[Token]) -> list[Finding]:
    head = phrase.low[phrase.low.index("of") - 1] if "of" in phrase.low else phrase.low[-1]
    if not is_profession(head, sure=articled) or not (
        articled or clause.who.plural or clause.group.ended or _untitled(phrase, after)
    ):
        return []
    if head in PARENT_WORDS and phrase.low[0] not in {"stay-at-home", "full-time", "working"}:
        return [_is(clause, "trait", phrase)] if clause.who.is_user else []
    if clause.group.tense == "past" and not clause.ended:
        return (
            []
            if clause.group.negated
            else [_is(clause, "job", phrase, standing="ended")]
            if head in PROFESSIONS
            else []
        )
    if clause.group.tense == "perfect" and not clause.lasting:
        return []
    return [_is(clause, "job", phrase)]


def _untitled(phrase: Phrase, after: Sequence[Token]) -> bool:
    """Titles go without an article: "head of sales", "CTO at Adyen"."""
    return ("of" in phrase.low or bool(after) and after[0].low == "at") and len(phrase.low) <= 4


def is_profession(head: str, *, sure: bool) -> bool:
    if head in PROFESSIONS:
        return True
    return sure and head not in NOT_PROFESSIONS and len(head) > 4 and head.endswith(PROFESSION_ENDINGS)


def _is(clause: Clause, attribute: str, phrase: Phrase, *, standing: Standing | None = None) -> Finding:
    whole = (
        phrase.text
        if clause.who.plural
        or phrase.low[-1] in DIETS | RELIGIONS
        or (phrase.low[-1].endswith("s") and not phrase.low[-1].endswith("ss"))
        else a(phrase.text)
    )
    return told(
        clause, attribute, phrase.text, found(clause, attribute, whole, "be", standing=standing).text, standing=standing
    )


def _attached(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    """ "at Rolls-Royce in Derby", "from Leeds", "based in Accra" behind the noun."""
    if not tokens or clause.group.negated and not clause.ended:
        return []
    low = words(tokens[:2])
    if low[0] == "in":
        at = next((place for place, token in enumerate(tokens) if token.low in {"at", "for"}), len(tokens))
        return _attached(clause, tokens[at:])
    if low in {("based", "in"), ("living", "in")}:
        return with_frame(replace(clause, rest=tokens[2:]), _HOME)
    if low == ("working", "for") or low == ("working", "at"):
        return with_frame(replace(clause, rest=tokens[2:]), _EMPLOYER)
    frame = _AFTER.get(low[0])
    if (
        frame is None
        or (low[0] == "with" and not tokens[1:2])
        or (low[0] == "for" and len(tokens) > 1 and not _organisation(tokens[1:]))
    ):
        return []
    findings = with_frame(replace(clause, rest=tokens[1:]), frame)
    return (
        findings
        if low[0] != "with"
        else [item for item in findings if item.value[:1].isupper() and "experience" not in item.value]
    )


def _studies(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    """ "a student in computational biology at ETH" """
    at = next((place for place, token in enumerate(tokens) if token.low == "at"), len(tokens))
    subject = with_frame(replace(clause, rest=tokens[1:at]), Frame("studies", "study")) if tokens[0].low == "in" else []
    return subject + (
        with_frame(replace(clause, rest=tokens[at + 1 :]), Frame("school", "study at", one=True))
        if at < len(tokens)
        else []
    )


def _organisation(tokens: Sequence[Token]) -> bool:
    return tokens[0].named or surface(tokens[:1]).lower() in {"a", "an", "the"}
