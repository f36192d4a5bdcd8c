""" "I am …": the busiest verb. The complement is taken apart at "and" and each piece is asked what it can be."""

import re
from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.frames import is_named, is_place
from commonplace.adapters.rules.nominal import nominal
from commonplace.adapters.rules.phrases import Phrase, cleaned, until_stop, vague
from commonplace.adapters.rules.relations import called, name_end
from commonplace.adapters.rules.render import predicate, sentence, third_person
from commonplace.adapters.rules.tokens import Token, surface, words
from commonplace.adapters.rules.topics import (
    CONDITION_ADJECTIVES,
    DIETS,
    MARITAL,
    MEDICINE,
    MEDICINE_ENDINGS,
    NATIONALITIES,
    RELIGIONS,
    TRAIT_ADJECTIVES,
    WORK_STATES,
)
from commonplace.adapters.rules.wordsets import word_set

_LIKED = frozenset({"of", "about", "on", "in", "with", "from"})
_NOT_LIKED = ("dislikes", "dislike")


def _likes(verb: str) -> Frame:
    return Frame("likes", verb, past="drop", negated=_NOT_LIKED, through=_LIKED)


def _not_gerund(phrase: Phrase) -> bool:
    return not phrase.low[0].endswith("ing") and len(phrase.low) <= 4


def _is_medicine(phrase: Phrase) -> bool:
    return phrase.head in MEDICINE or phrase.head.endswith(MEDICINE_ENDINGS)


_FRAMES: dict[str, Frame] = {
    "allergic to": Frame("allergic_to", "be allergic to"),
    "intolerant to": Frame("allergic_to", "be intolerant to"),
    "fluent in": Frame("speaks", "be fluent in"),
    "bilingual in": Frame("speaks", "be bilingual in"),
    "conversational in": Frame("speaks", "be conversational in"),
    "good at": Frame("skill", "be good at"),
    "great at": Frame("skill", "be great at"),
    "skilled at": Frame("skill", "be skilled at"),
    "excellent at": Frame("skill", "be excellent at"),
    "proficient in": Frame("skill", "be proficient in"),
    "afraid of": Frame("fears", "be afraid of"),
    "scared of": Frame("fears", "be scared of"),
    "terrified of": Frame("fears", "be terrified of"),
    "into": _likes("be into"),
    "fond of": _likes("be fond of"),
    "crazy about": _likes("be crazy about"),
    "mad about": _likes("be mad about"),
    "keen on": _likes("be keen on"),
    "passionate about": _likes("be passionate about"),
    "obsessed with": _likes("be obsessed with"),
    "partial to": _likes("be partial to"),
    "hooked on": _likes("be hooked on"),
    "addicted to": _likes("be addicted to"),
    "big on": _likes("be big on"),
    "nuts about": _likes("be nuts about"),
    "tired of": Frame("dislikes", "be tired of", accepts=_not_gerund),
    "sick of": Frame("dislikes", "be sick of", accepts=_not_gerund),
    "from": Frame("hometown", "be from", one=True, accepts=is_place, through=frozenset({"in", "near", "of"})),
    "member of": Frame("member_of", "be a member of"),
    "part of": Frame("member_of", "be part of", accepts=is_named),
}
_PASSIVE: dict[str, Frame] = {
    "diagnosed with": Frame("condition", "have", past="holds"),
    "based in": Frame("home", "be based in", past="ended", one=True, accepts=is_place),
    "based out of": Frame("home", "be based in", past="ended", one=True),
    "located in": Frame("home", "be located in", one=True, accepts=is_place),
    "raised in": Frame("hometown", "come from", past="holds", one=True, accepts=is_place),
    "born and raised in": Frame("hometown", "come from", past="holds", one=True, accepts=is_place),
    "hired by": Frame("employer", "work for", past="holds", one=True, accepts=is_named),
    "hired at": Frame("employer", "work at", past="holds", one=True),
    "hired as": Frame("job", "work as", past="holds"),
    "promoted to": Frame("job", "be", past="holds", through=frozenset({"of"})),
    "fired from": Frame("employer", "work for", past="ended", one=True),
    "laid off from": Frame("employer", "work for", past="ended", one=True),
    "laid off by": Frame("employer", "work for", past="ended", one=True),
    "fired by": Frame("employer", "work for", past="ended", one=True),
}
_WEAK = frozenset({"bad", "terrible", "awful", "hopeless", "horrible", "useless", "rubbish", "clumsy"})
_HALVES = frozenset({"half", "part", "originally"})


def copula(clause: Clause) -> list[Finding]:
    if clause.group.lemma != "be":
        return passive(clause)
    framed = adjective_frame(clause)
    if framed is not None:
        return framed
    if (
        clause.who.plural
        and all(token.low.isdecimal() or token.low in {",", "and"} for token in clause.rest)
        and clause.rest
    ):
        return [found(clause, "age", surface(clause.rest), "be", tail="years old")]
    findings: list[Finding] = []
    for place, piece in enumerate(_pieces(clause.rest)):
        inner = adjective_frame(replace(clause, rest=clause.rest[piece[0] :])) if place else None
        if inner is not None:
            return findings + inner
        new = _piece(clause, clause.rest[piece[0] : piece[1]], first=place == 0)
        if not new:
            break
        findings.extend(new)
    return findings


def adjective_frame(clause: Clause) -> list[Finding] | None:
    low = clause.low
    for length in (1, 2):
        frame = _FRAMES.get(" ".join(low[:length]))
        if frame is not None:
            if frame.attribute == "skill" and clause.group.negated:
                return [_weakness(clause, "not " + surface(clause.rest))]
            return with_frame(clause.after(length), frame)
    if len(low) > 2 and low[0] in _WEAK and low[1] in {"at", "with"} and not clause.group.negated:
        return [_weakness(clause, third_person(clause.rest))]
    return None


def _weakness(clause: Clause, value: str) -> Finding:
    if value.startswith("not ") and "very" in clause.group.adverbs:
        value = f"not very {value[4:]}"
    return told(clause, "trait", value, sentence(clause.who, "is", value), standing="holds")


def passive(clause: Clause) -> list[Finding]:
    low = (clause.group.lemma, *clause.low)
    if clause.group.lemma == "born":
        return _born(clause)
    if clause.group.lemma in {"named", "called"} and clause.who.is_user:
        name = called(clause.rest)
        return [found(clause, "name", name, "be called")] if name else []
    if low[:1] == ("fired",) and len(low) == 1 or low == ("laid", "off"):
        return [told(clause, "employer", "", sentence(clause.who, "lost their job"), standing="ended")]
    for length in (4, 3, 2):
        frame = _PASSIVE.get(" ".join(low[:length]))
        if frame is not None:
            return with_frame(clause.after(length - 1), frame)
    return []


def _born(clause: Clause) -> list[Finding]:
    """The date is the value here, so it is read from the words that still have it."""
    if words(clause.rest)[:3] == ("and", "raised", "in"):
        return with_frame(clause.after(3), _PASSIVE["raised in"])
    findings: list[Finding] = []
    for moment in clause.moments:
        if moment.role == "point" and any(sign.isdigit() for sign in moment.period):
            value = moment.period.removeprefix("the ")
            attribute = "birth_year" if value.isdecimal() else "birthday"
            shown = " ".join(word.capitalize() if word.isalpha() and word != "of" else word for word in value.split())
            findings.append(
                told(
                    clause,
                    attribute,
                    shown,
                    sentence(clause.who, f"was born {'in' if value.isdecimal() else 'on'} {shown}"),
                    when="none",
                )
            )
    if clause.low[:1] == ("in",):
        place = cleaned(clause.rest[1 : 1 + until_stop(clause.rest[1:])])
        if place is not None and place.named:
            findings.append(
                told(clause, "birthplace", place.text, sentence(clause.who, f"was born in {place.text}"), when="none")
            )
    return findings


def _pieces(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    found_: list[tuple[int, int]] = []
    begin = 0
    for place, token in enumerate(tokens):
        if token.low in {",", "and", "&", "but", "("}:
            if place > begin:
                found_.append((begin, place))
            begin = place + 1
    if begin < len(tokens):
        found_.append((begin, len(tokens)))
    return found_


def _piece(clause: Clause, tokens: Sequence[Token], *, first: bool) -> list[Finding]:
    for reader in (_age, _tall, _on, _state, _noun):
        findings = reader(clause, tokens)
        if findings:
            return findings
    return _name(clause, tokens) if first else []


def _age(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    number = tokens[0].low.removesuffix("-year-old").removesuffix("yo")
    if not (number.isdecimal() and 0 < int(number[:4]) < 120):
        return []
    low = words(tokens)
    rest = (
        3
        if low[1:3] in {("years", "old"), ("year", "old"), ("years", "young"), ("yrs", "old")}
        else 2
        if low[1:2] in {("yo",), ("y/o",)}
        else 1
    )
    if (
        rest == 1
        and len(low) > 1
        and tokens[0].low == number
        and low[1] not in {"now", "today", "from", "in", "btw", "lol"}
    ):
        return []
    if len(number) > 3 or clause.group.tense == "past":
        return []
    tail = tokens[rest:]
    return [found(clause, "age", number, "be", tail="years old"), *(_noun(clause, tail) if tail else [])]


def _tall(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    if len(tokens) == 1 and re.fullmatch(r"1\d\d ?cm", tokens[0].low):
        return [found(clause, "height", tokens[0].text, "be", tail="tall")]
    if len(tokens) < 2 or tokens[-1].low != "tall" or not tokens[0].low[0].isdigit():
        return []
    value = surface(tokens[:-1]).replace(" '", "'").replace("' ", "'").replace(' "', '"')
    return [found(clause, "height", value, "be", tail="tall")]


def _on(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    """ "on insulin", "on Linux", "on a keto diet"; "off insulin" """
    if tokens[0].low not in {"on", "off"} or len(tokens) < 2:
        return []
    phrase = cleaned(tokens[1:])
    if phrase is None or vague(phrase) and phrase.head != "diet":
        return []
    if tokens[0].low == "off":
        gone = _is_medicine(phrase) and not clause.group.negated and clause.group.tense == "present"
        return [found(clause, "takes", phrase, "take", standing="ended")] if gone else []
    if phrase.head == "diet":
        return [found(clause, "diet", " ".join(phrase.low[:-1]), "be on a", tail="diet")] if len(phrase.low) > 1 else []
    if _is_medicine(phrase):
        return [found(clause, "takes", phrase, "take")]
    if (
        phrase.named
        and (clause.lasting or clause.group.tense == "present" and not clause.moments)
        and phrase.low[-1] not in {"island", "street"}
    ):
        return [found(clause, "uses", phrase, "use")]
    return []


_STATES: tuple[tuple[frozenset[str], str, bool], ...] = (
    (DIETS, "diet", True),
    (MARITAL, "marital_status", True),
    (CONDITION_ADJECTIVES, "condition", True),
    (WORK_STATES, "job", True),
    (RELIGIONS, "religion", True),
    (NATIONALITIES, "nationality", False),
    (TRAIT_ADJECTIVES, "trait", False),
)


def _state(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    low = _without_degree(words(tokens))
    value = surface(tokens[len(tokens) - len(low) :])
    for length in range(len(low), max(0, len(low) - 1), -1):
        for lexicon, attribute, over in _STATES:
            if " ".join(low[:length]) in lexicon:
                return _in_state(clause, attribute, value, over=over)
    if len(low) == 2 and low[0] in _HALVES and low[1] in NATIONALITIES:
        return [found(clause, "nationality", value, "be")]
    if len(low) > 2 and low[0] in {"married", "engaged"} and low[1] == "to":
        return _bound(clause, low[0], tokens[len(tokens) - len(low) + 2 :])
    if len(low) == 3 and low[1] in {"months", "weeks"} and low[2] == "pregnant":
        return [told(clause, "condition", "pregnant", found(clause, "condition", value, "be").text)]
    if low[:3] == ("in", "a", "relationship"):
        return [found(clause, "marital_status", "in a relationship", "be")]
    return []


def _without_degree(low: tuple[str, ...]) -> tuple[str, ...]:
    for degree in (("a", "bit"), ("a", "little"), ("kind", "of"), ("sort", "of"), ("a", "little", "bit"), ("too",)):
        if low[: len(degree)] == degree:
            return low[len(degree) :]
    return low


def _in_state(clause: Clause, attribute: str, value: str, *, over: bool) -> list[Finding]:
    tense = clause.group.tense
    if tense == "past" and not clause.ended:
        return (
            [found(clause, attribute, value, "be", standing="ended")]
            if over and attribute in {"diet", "job"} and not clause.group.negated
            else []
        )
    if tense == "perfect" and not clause.lasting and "always" not in clause.group.adverbs and attribute != "job":
        return []
    if attribute == "trait" and any(moment.role == "point" for moment in clause.moments):
        return []
    value = value if attribute in {"nationality", "religion"} or value.isupper() else value.lower()
    return [found(clause, attribute, value, "be")]


def _bound(clause: Clause, status: str, tokens: Sequence[Token]) -> list[Finding]:
    name = called(tokens)
    findings = [found(clause, "marital_status", status, "be")]
    if name:
        findings.append(
            told(
                clause,
                "partner",
                name,
                sentence(clause.who, predicate(clause.who, f"be {status} to", standing=clause.standing), name),
            )
        )
    return findings


def _noun(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    return nominal(clause, tokens)


_NO_NAME = word_set(
    "ok okay team sure tbh imo idk gonna afk qa it hr on in at english monday tuesday wednesday thursday friday"
    " saturday sunday mr mrs the"
)


def _name(clause: Clause, tokens: Sequence[Token]) -> list[Finding]:
    """ "I'm Priya": capitalised words and nothing else."""
    if (
        not clause.who.is_user
        or clause.group.negated
        or clause.group.tense != "present"
        or clause.group.adverbs - {"just", "actually"}
    ):
        return []
    end = name_end(tokens, 0)
    after = words(tokens[end:])
    if (
        not end
        or (after and after[0] not in {"from", "by", "lol", "btw", "here"})
        or tokens[0].low in _NO_NAME | NATIONALITIES | RELIGIONS
    ):
        return []
    name = surface(tokens[:end])
    if name.isupper() or not name[0].isupper() or any(sign.isdigit() for sign in name):
        return []
    origin = with_frame(replace(clause, rest=tokens[end + 1 :]), _FRAMES["from"]) if after[:1] == ("from",) else []
    return [found(clause, "name", name, "be called"), *origin]
