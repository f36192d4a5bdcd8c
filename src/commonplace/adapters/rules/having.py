""" "I have …": people, animals, illnesses, degrees, appointments and things, told apart by their noun.

Nothing else is kept: one also has questions.
"""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.frames import is_condition
from commonplace.adapters.rules.lexicon import RELATIONS
from commonplace.adapters.rules.moments import shown
from commonplace.adapters.rules.phrases import Phrase, cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.relations import Relation, introduced, relation
from commonplace.adapters.rules.render import in_the_singular, predicate, seen_from_outside, sentence
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.topics import ALLERGENS, BODY_PARTS, DEGREES, EVENT_NOUNS, PASSING, POSSESSIONS

_KEPT_UNNAMED = frozenset({"pet", "child", "sibling", "partner"})
CHILDREN = frozenset(noun for noun, attribute in RELATIONS.items() if attribute == "child")
_OWN_BODY = frozenset({"eyes", "hair", "beard", "freckles", "dimples", "skin"})
_THROUGH = frozenset({"of", "in", "to"})


def having(clause: Clause) -> list[Finding]:
    clause = _without_none(clause)
    if clause.group.tense == "perfect" and not clause.lasting and not clause.ended:
        return []
    if clause.group.tense == "past" and not clause.ended and not CHILDREN.isdisjoint(clause.low[:3]):
        return relatives(clause, "have") if _is_birth(clause) else []
    if clause.group.tense == "past" and not clause.ended:
        clause = replace(clause, group=replace(clause.group, ended=not clause.group.negated))
    people = relatives(clause, "have")
    if people:
        return people
    if clause.low[:3] == ("a", "passion", "for"):
        return with_frame(clause.after(3), Frame("likes", "have a passion for"))
    tokens = clause.rest
    end = until_stop(tokens, through=_THROUGH)
    phrases = coordinated(tokens[:end])
    return [item for phrase in phrases if not _vague(phrase) for item in _thing(clause, phrase)]


def _is_birth(clause: Clause) -> bool:
    """ "had twins", "just had a son"; of "had a daughter" nobody knows whether she was born or lost."""
    newborn = not {"baby", "twins", "triplets"}.isdisjoint(clause.low[:3])
    told_when = clause.dated(ahead=False) is not None or not {"just", "recently", "finally"}.isdisjoint(
        clause.group.adverbs
    )
    return not clause.group.negated and (newborn or told_when)


def _vague(phrase: Phrase) -> bool:
    return vague(phrase) and phrase.head not in ALLERGENS


def _without_none(clause: Clause) -> Clause:
    """ "have no car" is "do not have a car"."""
    if clause.low[:1] in {("no",), ("neither",)}:
        rest = [token for token in _denied_row(clause.rest) if token.low not in {"no", "neither", "any"}]
        return replace(clause, rest=rest, group=replace(clause.group, negated=True))
    return clause.after(1) if clause.low[:1] == ("any",) else clause


def _denied_row(tokens: Sequence[Token]) -> Sequence[Token]:
    """What "no" reaches: "no kids and no pets" to the end, "no kids, just two cats" and "no car but a bike" to the
    first of them."""
    for place in range(1, len(tokens) - 1):
        following = tokens[place + 1].low
        if tokens[place].low in {"and", ",", "plus"} and following not in {"no", "nor", "or", "any", "and"}:
            return tokens[:place]
    return tokens


def relatives(clause: Clause, verb: str) -> list[Finding]:
    """Read a row of people and animals: "a wife and two daughters"."""
    findings: list[Finding] = []
    tokens = clause.rest
    while tokens:
        kin = relation(tokens, loose=True)
        if kin is None:
            break
        findings.extend(_relative(clause, kin, tokens, verb))
        tokens = tokens[kin.after :]
        while tokens and tokens[0].low in {"and", ",", "plus", "nor"} | ({"or"} if clause.group.negated else set()):
            tokens = tokens[1:]
    return findings


def _relative(clause: Clause, kin: Relation, tokens: Sequence[Token], verb: str) -> list[Finding]:
    if kin.age:
        who = kin.who()
        aged = replace(told(clause, "age", kin.age, f"{who.shown} is {kin.age} years old", standing="holds"), who=who)
        return [aged, *_relative(clause, replace(kin, age=""), tokens, verb)]
    if kin.names:
        return [
            told(
                clause,
                kin.attribute,
                name,
                sentence(
                    clause.who,
                    predicate(clause.who, verb, standing=clause.standing),
                    _a(introduced(kin.noun, name, bare=kin.bare)),
                ),
            )
            for name in kin.names
        ]
    phrase = cleaned(tokens[: kin.after])
    if phrase is None or kin.attribute not in _KEPT_UNNAMED or phrase.definite:
        return []
    if phrase.low[0] in {"this", "these", "that"}:
        return [found(clause, kin.attribute, phrase.text.split(" ", 1)[1], verb)]
    return [found(clause, kin.attribute, phrase, verb)]


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _thing(clause: Clause, phrase: Phrase) -> list[Finding]:
    low, head = phrase.low, phrase.head
    if head in ALLERGENS or low[-1] in ALLERGENS:
        return _allergy(clause, phrase)
    if low[-1] == "subscription" and len(low) > 1:
        return [found(clause, "uses", phrase.text.rsplit(" ", 1)[0], "subscribe to")]
    if not DEGREES.isdisjoint(low) and ("in" in low or low[-1] in DEGREES):
        return [found(clause, "education", phrase, "have", when="none")]
    if low[-1] in PASSING:
        return []
    if is_condition(phrase) or (low[-1] in BODY_PARTS and low[0] in {"bad", "weak", "poor", "chronic", "artificial"}):
        return [found(clause, "condition", phrase, "have")]
    if head in EVENT_NOUNS or low[-1] in EVENT_NOUNS:
        return appointment(clause, phrase, head)
    if low[-1] in _OWN_BODY and len(low) > 1 and clause.group.tense == "present":
        return [found(clause, "trait", phrase, "have")]
    return [found(clause, "owns", phrase, "have")] if is_possession(phrase) else []


def _allergy(clause: Clause, phrase: Phrase) -> list[Finding]:
    if "to" in phrase.low:
        value = " ".join(phrase.text.split(" ")[phrase.low.index("to") + 1 :])
    else:
        value = " ".join(
            word
            for word in phrase.text.split(" ")[:-1]
            if word.lower() not in {"severe", "bad", "mild", "serious", "food", "strong"}
        )
    return [found(clause, "allergic_to", value, "be allergic to")] if value else []


def appointment(clause: Clause, phrase: Phrase, head: str) -> list[Finding]:
    """An appointment counts when its day is said: of two, each has its own."""
    behind = [moment for moment in clause.moments if moment.start > phrase.start]
    span = (replace(clause, moments=behind) if behind else clause).dated(ahead=True)
    if span is None or clause.group.negated or clause.group.ended or span.stop <= clause.at:
        return []
    value = phrase.text[: phrase.text.lower().index(head) + len(head)]
    text = sentence(clause.who, "has", _a(value) if phrase.whole != phrase.text else value, shown(span))
    return [replace(told(clause, "plans", value, text, when="spans"), span=span)]


def is_possession(phrase: Phrase) -> bool:
    """A thing one can own: known by its noun, or by a name at its end ("an iPhone 15")."""
    head = phrase.head
    if head in POSSESSIONS or (head.endswith("s") and in_the_singular(head).split(" ")[-1] in POSSESSIONS):
        return True
    last = phrase.text.split(" ")[-1]
    if len(last) == 1 and not last.isdigit():
        return False  # a mark: "a B in chemistry"
    return (
        phrase.whole != phrase.text
        and head == phrase.low[-1]
        and (last[:1].isupper() or last[1:2].isupper() or (last[:1].isdigit() and phrase.named))
        and phrase.definite != "the"
    )


def acquired(clause: Clause) -> list[Finding]:
    """ "bought", "got", "adopted": the same as having, from then on. What is eaten or used up is not kept."""
    if clause.group.negated:
        return []
    people = relatives(clause, "have")
    if people:
        return people
    phrases = coordinated(clause.rest[: until_stop(clause.rest, through=frozenset({"of"}))])
    return [found(clause, "owns", phrase, "own") for phrase in phrases if not vague(phrase) and is_possession(phrase)]


def things_lost(clause: Clause, verb: str) -> list[Finding]:
    """ "sold my car", "gave our cat away", "got rid of my TV" """
    tokens = [token for token in clause.rest if token.low not in {"away", "off"}]
    phrases = coordinated(tokens[: until_stop(tokens, through=frozenset({"of"}))])
    findings: list[Finding] = []
    for phrase in phrases:
        kin = relation([token for token in tokens if token.low not in {"my", "our"}])
        attribute = kin.attribute if kin is not None and kin.attribute == "pet" else "owns"
        name = kin.names[0] if kin is not None and kin.names else phrase.text
        if phrase.definite:
            text = sentence(clause.who, verb, seen_from_outside(phrase.whole))
            gone = told(clause, attribute, name, text, standing="ended")
            # "the Corolla" may be anybody's: it counts where it is known to be the user's
            findings.append(replace(gone, confidence=0.4) if phrase.definite == "the" else gone)
    return findings
