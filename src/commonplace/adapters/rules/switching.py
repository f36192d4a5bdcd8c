"""One thing for another: "switched from A to B", "replaced A with B", "ditched A", "changed my name to B"."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.lexicon import DETERMINERS, NUMBERS
from commonplace.adapters.rules.possessive import possessed
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.topics import (
    ACTIVITIES,
    DIETS,
    FOODLIKE,
    MEDICINE,
    MEDICINE_ENDINGS,
    PRODUCTS,
    PROFESSIONS,
    SPORTS_AND_INSTRUMENTS,
)
from commonplace.adapters.rules.wordsets import word_set

TOOL = Frame("uses", "use", past="holds", one=True)
_UNSURE = 0.4
"""It counts only where something is known that it ends."""
_NO_TOOLS = (
    word_set(
        "days nights mornings evenings shifts happy sad zero nothing law medicine biology chemistry physics math maths"
        " mathematics engineering economics history psychology philosophy nursing business linguistics accounting"
        " finance teaching marketing design sales literature art arts music geography politics sociology butter oil"
        " honey salt water rice pasta meat bread being"
    )
    | PROFESSIONS
    | FOODLIKE
    | DIETS
    | SPORTS_AND_INSTRUMENTS
    | ACTIVITIES
)


def part(clause: Clause, word: str) -> Clause | None:
    """The clause from behind a preposition on."""
    if word not in clause.low:
        return None
    return clause.after(clause.low.index(word) + 1)


def settled(clause: Clause) -> bool:
    group = clause.group
    return (
        not group.negated
        and group.factual
        and not group.progressive
        and (group.tense != "present" or group.lemma in {"quit", "cut", "let"})
    )


def ended(clause: Clause, frame: Frame) -> list[Finding]:
    over = replace(
        clause,
        group=replace(clause.group, ended=True),
        rest=until(clause.rest, {"to", "for", "and", "in", "into", "because"}),
    )
    return with_frame(over, replace(frame, past="ended"))


def until(tokens: Sequence[Token], stops: set[str]) -> Sequence[Token]:
    end = next((place for place, token in enumerate(tokens) if token.low in stops), len(tokens))
    return tokens[:end]


def is_tool(clause: Clause | None) -> bool:
    return clause is not None and bool(clause.rest) and clause.rest[0].low in PRODUCTS


def switching(clause: Clause) -> list[Finding]:
    """ "switched from A to B", "replaced A with B", "ditched A for B" """
    if not settled(clause) or clause.low[:1] in {("jobs",), ("careers",), ("majors",), ("schools",), ("sides",)}:
        return []
    lemma = clause.group.lemma
    if lemma in {"change", "update"} and clause.low[:1] == ("my",):
        return _changed(clause)
    if lemma in {"switch", "migrate", "change", "upgrade", "convert", "transition", "transfer"}:
        origin, target = part(clause, "from"), part(clause, "to")
    else:
        origin, target = clause, part(clause, "with") or part(clause, "for" if lemma != "replace" else "by")
    if origin is clause and target is None and lemma not in {"ditch", "drop", "abandon"}:
        return []
    frame = TOOL if lemma != "trade" else Frame("owns", "own", past="holds", one=True)
    if origin is None or target is None:
        return [] if lemma == "transfer" else _alone(clause, origin, target, frame)
    return _one_for_another(clause, origin, target, frame)


def _one_for_another(clause: Clause, origin: Clause, target: Clause, frame: Frame) -> list[Finding]:
    lemma = clause.group.lemma
    if is_medicine(origin) and is_medicine(target):
        frame = Frame("takes", "take", past="holds", one=True)
    unclear = not any(_is_named(side) for side in (origin, target)) and _is_unclear(origin, target)
    unclear = unclear or lemma == "transfer"
    if unclear and lemma == "switch" and not FOODLIKE.isdisjoint((*origin.low[:1], *target.low[:1])):
        frame, unclear = Frame("consumes", "consume", past="holds", one=True), False
    over, so = _replaced(clause, origin, frame), with_frame(target, frame)
    if unclear:
        over = [replace(item, confidence=_UNSURE) for item in over]
        so = [replace(item, confidence=_UNSURE) for item in so] if over else []
    return over + [replace(item, follows=bool(over)) for item in so]


def _alone(clause: Clause, origin: Clause | None, target: Clause | None, frame: Frame) -> list[Finding]:
    """ "switched to Linux", "ditched Notion" """
    if origin is not None:
        return _replaced(clause, origin, frame)
    findings = with_frame(target, frame) if target is not None else []
    return [item for item in findings if not item.value[:2].islower() or item.value.lower() in PRODUCTS]


def is_medicine(side: Clause) -> bool:
    return bool(side.rest) and (side.low[0] in MEDICINE or side.low[0].endswith(MEDICINE_ENDINGS))


def _is_named(side: Clause) -> bool:
    tokens = [token for token in side.rest[:3] if token.low not in DETERMINERS]
    return bool(tokens) and (tokens[0].named or tokens[0].low in PRODUCTS)


def _is_unclear(*sides: Clause) -> bool:
    """Between studies, shifts, foods and numbers one switches, too, and of a tool there is no sign."""
    heads = [token for side in sides for token in side.rest[:2] if token.low not in DETERMINERS]
    return any(token.low in _NO_TOOLS or token.low[0].isdigit() or token.low in NUMBERS for token in heads)


def _changed(clause: Clause) -> list[Finding]:
    """ "changed my name to Robin": what is theirs is so now."""
    if "to" not in clause.low[2:]:
        return []
    at = clause.low.index("to")
    noun = until(clause.rest[1:at], {"from"})
    is_so = clause.with_verb("be", clause.rest[at + 1 :])
    return [replace(item, when="began") for item in possessed(replace(is_so, full=is_so.rest), noun)]


def _replaced(clause: Clause, origin: Clause, frame: Frame) -> list[Finding]:
    tokens = origin.rest[1:] if origin.low[:1] in {("in",), ("out",)} else origin.rest
    tokens = until(tokens, {"to", "for", "with", "by"})
    findings = ended(replace(origin, rest=tokens), frame)
    if clause.group.lemma in {"drop", "abandon", "change"} and not all(item.value[:1].isupper() for item in findings):
        return []
    return findings


def gone_over(clause: Clause) -> list[Finding]:
    """ "went from Chrome to Firefox", "from vegetarian to vegan". One also goes from Paris to Rome, and from 80 kg to
    70."""
    target = part(clause, "to")
    if target is not None and target.low[-1:] and target.low[-1] in DIETS:
        return [found(clause, "diet", target.rest[-1].text, "be")]
    over = clause.with_verb("switch", clause.rest, past=True)
    return switching(over) if any(map(is_tool, (part(clause, "from"), target))) else []
