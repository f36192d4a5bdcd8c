"""Verbs of every day that need a look of their own: eating, living, renting, trying, dropping out, being able to."""

from dataclasses import replace

from commonplace.adapters.rules import activity, changes
from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.copula import adjective_frame, copula
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.frames import FRAMES, framed, is_place
from commonplace.adapters.rules.group import is_verb
from commonplace.adapters.rules.habits import habit
from commonplace.adapters.rules.having import having, things_lost
from commonplace.adapters.rules.lexicon import PREPOSITIONS
from commonplace.adapters.rules.phrases import cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.relations import relation
from commonplace.adapters.rules.render import sentence, third_person
from commonplace.adapters.rules.switching import is_medicine, switching
from commonplace.adapters.rules.topics import ACTIVITIES, BUSINESSES, DIETS, FOODLIKE, PLACE_NOUNS
from commonplace.adapters.rules.verbs import inflect
from commonplace.adapters.rules.wordsets import word_set
from commonplace.adapters.rules.working import working

_SKILLS = word_set(
    "swim drive cook ride sing dance read write code type ski skate juggle weld whistle dive sew knit play bake"
    " draw paint surf climb program sail fly"
)
_EATING = frozenset({"eat", "have", "drink", "digest", "tolerate", "consume"})
_DISLIKES = Frame("dislikes", "dislike", past="holds", through=frozenset({"of", "about", "in", "with"}))
_AVOIDS = Frame("avoids", "avoid")


def able(clause: Clause) -> list[Finding]:
    lemma = clause.group.lemma
    stated = replace(clause, group=replace(clause.group, modal="", negated=False))
    if clause.group.negated and not clause.ended:
        if lemma in {"stand", "bear"}:
            return with_frame(stated, _DISLIKES)
        if lemma == "get" and clause.low[:2] == ("enough", "of"):
            return with_frame(stated.after(2), FRAMES["love"])
        if lemma == "do" and not FOODLIKE.isdisjoint(clause.low[:2]):
            return with_frame(stated, _AVOIDS)
        if lemma in _EATING:
            return (
                [item for item in with_frame(stated, _AVOIDS) if item.value.islower() or item.value[:1].isupper()]
                if lemma != "have" or len(clause.low) == 1
                else []
            )
    if lemma == "speak":
        return with_frame(replace(clause, group=replace(clause.group, modal="")), FRAMES["speak"])
    if (
        lemma not in _SKILLS
        or len(clause.low) > 5
        or (
            clause.low
            and clause.low[0] in {"this", "it", "that", "your", "together", "with", "in", "to", "more", "for", "on"}
        )
    ):
        return []
    end = clause.low.index("to") if "to" in clause.low else len(clause.rest)
    value = f"{lemma} {third_person(clause.rest[:end])}".strip()
    verb = "cannot" if clause.group.negated else "can"
    return [told(clause, "skill", value, sentence(clause.who, verb, value))]


def becoming(clause: Clause) -> list[Finding]:
    return (
        copula(clause.with_verb("be", clause.rest))
        if clause.group.tense != "present" and not clause.group.negated
        else []
    )


def taking_up(clause: Clause) -> list[Finding]:
    if clause.low[:1] == ("up",) and clause.group.tense != "present" and not clause.group.negated:
        phrases = coordinated(clause.rest[1 : 1 + until_stop(clause.rest[1:])])
        return [
            found(clause, "hobby", phrase, "do") for phrase in phrases if not vague(phrase) and phrase.definite != "my"
        ]
    return activity.taking(clause)


def picking_up(clause: Clause) -> list[Finding]:
    """ "picked up knitting" """
    word = clause.low[1] if len(clause.low) > 1 else ""
    if (
        clause.low[:1] != ("up",)
        or clause.group.tense == "present"
        or clause.group.negated
        or not (word in ACTIVITIES or word.endswith("ing"))
    ):
        return []
    return [found(clause, "hobby", word, "do")]


def trying(clause: Clause) -> list[Finding]:
    """ "try to avoid sugar", "am trying to learn Italian" """
    if (
        clause.low[:2] in {("to", "avoid"), ("to", "learn")}
        and clause.group.tense == "present"
        and not clause.group.negated
    ):
        return framed(clause.with_verb(clause.low[1], clause.rest[2:]))
    return []


def unsubscribing(clause: Clause) -> list[Finding]:
    return changes.quitting(clause.after(1)) if clause.low[:1] == ("from",) else []


def following(clause: Clause) -> list[Finding]:
    phrase = cleaned(clause.rest[: until_stop(clause.rest)])
    if phrase is not None and phrase.head == "diet" and len(phrase.low) > 1:
        return [found(clause, "diet", phrase.text.rsplit(" ", 1)[0], "follow a", tail="diet")]
    return framed(clause)


def writing(clause: Clause) -> list[Finding]:
    """ "write poetry" """
    if (
        clause.low[:1]
        and clause.low[0] in {"poetry", "poems", "songs", "music", "stories", "fiction", "novels", "haiku"}
        and clause.group.tense == "present"
        and not clause.group.negated
    ):
        return [told(clause, "hobby", f"writing {clause.low[0]}", sentence(clause.who, "writes", clause.low[0]))]
    return []


def considering(clause: Clause) -> list[Finding]:
    """ "consider myself an optimist" """
    return copula(clause.with_verb("be", clause.rest[1:])) if clause.low[:1] == ("myself",) else []


def identifying(clause: Clause) -> list[Finding]:
    return copula(clause.with_verb("be", clause.rest[1:])) if clause.low[:1] == ("as",) else []


def caring(clause: Clause) -> list[Finding]:
    """Only its negation is about taste: "I care for my mother"."""
    return framed(clause) if clause.group.negated and clause.low[:1] == ("for",) else []


def running(clause: Clause) -> list[Finding]:
    phrase = cleaned(clause.rest[: until_stop(clause.rest)])
    if (
        phrase is not None
        and phrase.head in BUSINESSES
        and phrase.definite != "the"
        and (clause.group.tense == "present" or clause.ended)
    ):
        return [found(clause, "owns", phrase, "run")]
    return framed(clause) if clause.low[:1] in {("everything",), ("on",)} else []


def living(clause: Clause) -> list[Finding]:
    """ "live with my girlfriend in Sevilla", "live alone in Oslo" """
    low = clause.low
    if low[:1] in {("with",), ("alone",), ("together",), ("here",)} and "in" in low and "not" not in low:
        return framed(replace(clause, rest=clause.rest[low.index("in") :]))
    return framed(clause)


def using(clause: Clause) -> list[Finding]:
    if clause.low[1:2] == ("pronouns",):
        return [found(clause, "pronouns", clause.rest[0].text, "use", tail="pronouns")]
    if "instead" in clause.low[:-2] and not clause.group.negated:
        at = clause.low.index("instead")
        if clause.low[at + 1] == "of":
            over = replace(clause, rest=clause.rest[at + 2 :], group=replace(clause.group, ended=True))
            return framed(replace(clause, rest=clause.rest[:at])) + [
                one for one in framed(over) if one.value[:1].isupper()
            ]
    return framed(clause)


def renting(clause: Clause) -> list[Finding]:
    """ "rent a flat in Leith" is where one lives."""
    phrase = cleaned(clause.rest[: until_stop(clause.rest)])
    if phrase is None or phrase.head not in PLACE_NOUNS | {"room", "place"} or "in" not in clause.low:
        return []
    return with_frame(
        clause.after(clause.low.index("in") + 1), Frame("home", "live in", past="ended", one=True, accepts=is_place)
    )


def eating(clause: Clause) -> list[Finding]:
    if len(clause.low) == 1 and clause.low[0] in DIETS:
        return [found(clause, "diet", clause.rest[0].text, "eat")]
    if not clause.rest and clause.group.lemma == "drink" and clause.group.negated:
        return [
            replace(
                found(clause, "avoids", "alcohol", "drink", standing=None if clause.ended else "denied"),
                standing="ended" if clause.ended else "holds",
            )
        ]
    if clause.group.tense != "present" and not clause.ended and not clause.lasting:
        return []
    if clause.low[:1] and clause.low[0] in {
        "breakfast",
        "lunch",
        "dinner",
        "out",
        "too",
        "at",
        "more",
        "less",
        "a",
        "two",
        "three",
    }:
        return activity.habitual(clause)
    if clause.low[:1] == ("my",):
        return (
            [found(clause, "consumes", third_person(clause.rest[1:]), clause.group.lemma, standing=None)]
            if len(clause.low) <= 4 and not clause.group.negated
            else []
        )
    # "I eat meat again": it was not so before, and a diet that forbids it is over
    anew = not {"again", "began"}.isdisjoint(clause.marks) or "now" in (*clause.group.adverbs, *clause.low)
    eaten = framed(clause)
    return [replace(item, when="now") if anew and item.standing == "holds" else item for item in eaten]


def growing(clause: Clause) -> list[Finding]:
    """ "grown fond of crosswords" """
    return adjective_frame(clause.with_verb("be", clause.rest)) or [] if clause.low[:1] == ("fond",) else []


def dropping(clause: Clause) -> list[Finding]:
    if clause.low[:2] == ("out", "of"):
        return with_frame(
            replace(clause.after(2), group=replace(clause.group, ended=True)),
            Frame("school", "attend", past="ended", one=True),
        )
    return switching(clause)


def having_or_event(clause: Clause) -> list[Finding]:
    return activity.happened(clause) or having(clause) or activity.habitual(clause)


def having_breakfast(clause: Clause) -> list[Finding]:
    if clause.low[:1] in {("breakfast",), ("lunch",), ("dinner",)}:
        return [habit(clause)] if clause.often or ("at" in clause.low and clause.group.tense == "present") else []
    return having_or_event(clause)


def putting_down(clause: Clause) -> list[Finding]:
    """ "put our dog down", "put our old cat to sleep": of a child it is bedtime."""
    low = clause.low
    kin = relation(clause.rest[1:]) if low[:1] in {("my",), ("our",)} else None
    gone = low[-1:] == ("down",) or low[-2:] == ("to", "sleep")
    if kin is None or kin.attribute != "pet" or not gone or clause.group.tense == "present" or clause.group.negated:
        return []
    value = kin.names[0] if kin.names else kin.bare
    return [told(clause, "pet", value, sentence(clause.who, "lost their", kin.noun, *kin.names), standing="ended")]


def selling(clause: Clause) -> list[Finding]:
    verb = inflect(clause.group.lemma, "past")
    return things_lost(clause, verb) if clause.group.tense != "present" and not clause.group.negated else []


def table(clause: Clause) -> list[Finding]:
    work = working(clause)
    return work if work is not None else framed(clause)


def gone_off(clause: Clause) -> list[Finding]:
    """ "have gone off sushi" is not liking it anymore; one also goes off to college, and off the rails."""
    over = replace(clause, group=replace(clause.group, ended=True))
    if is_medicine(clause):
        return with_frame(over, Frame("takes", "take", past="ended"))
    elsewhere = clause.low[:1] and clause.low[0] in PREPOSITIONS | {"the", "a", "topic", "script", "grid", "line"}
    return with_frame(over, FRAMES["like"]) if not elsewhere else []


def coming_off(clause: Clause) -> list[Finding]:
    """ "came off Lexapro", "weaned myself off sertraline" """
    tokens = clause.rest[1:] if clause.low[:1] == ("myself",) else clause.rest
    if not tokens or tokens[0].low != "off" or clause.group.tense == "present" or clause.group.negated:
        return []
    over = replace(clause, rest=tokens[1:], group=replace(clause.group, ended=True))
    taken = with_frame(over, Frame("takes", "take", past="ended"))
    return [item if is_medicine(over) else replace(item, confidence=0.4) for item in taken]


def giving_birth(clause: Clause) -> Finding:
    over = told(clause, "condition", "pregnant", sentence(clause.who, "gave birth"), standing="ended")
    return replace(over, confidence=0.4)


def preferring(clause: Clause) -> list[Finding]:
    """ "I'd rather read than watch TV" """
    at = clause.low.index("than") if "than" in clause.low[:-1] else None
    if at is None or not is_verb(clause.low[at + 1], "base") or clause.group.negated:
        return []
    value = f"{clause.group.lemma} {third_person(clause.rest[:at])}".strip()
    text = sentence(clause.who, "would rather", clause.group.lemma, third_person(clause.rest))
    return [told(clause, "prefers", value, text)]


def retiring(clause: Clause) -> list[Finding]:
    return (
        [found(clause, "job", "retired", "be")] if clause.group.tense != "present" and not clause.group.negated else []
    )
