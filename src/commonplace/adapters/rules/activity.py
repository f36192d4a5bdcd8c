"""What people do: play, practise, collect, run every morning, teach, travel, read, reach.

A habit needs a word that says so ("every day").
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, tail_of, with_frame
from commonplace.adapters.rules.frames import is_named
from commonplace.adapters.rules.habits import habit, how_often
from commonplace.adapters.rules.lexicon import ADVERBS
from commonplace.adapters.rules.phrases import cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.render import predicate, sentence, third_person
from commonplace.adapters.rules.tokens import Token, surface, words
from commonplace.adapters.rules.topics import (
    ACTIVITIES,
    BODY_PARTS,
    DIETS,
    HOBBY_VERBS,
    LANGUAGES_OF_CODE,
    MEDICINE,
    MEDICINE_ENDINGS,
    NATIONALITIES,
)
from commonplace.adapters.rules.verbs import inflect
from commonplace.adapters.rules.wordsets import word_set
from commonplace.adapters.rules.working import _degree

_HABITS = HOBBY_VERBS | word_set(
    "go run jog walk cycle bike commute meditate journal exercise train work sleep cook study practise practice"
    " fast pray volunteer travel"
    " write stretch nap wake get ride drive call visit eat have lift stream podcast shave shower skip do take"
    " play read watch"
)
_ALWAYS_HABITS = frozenset({"smoke", "vape", "snore"})
_TOOLED = word_set("track do manage write edit plan record organise organize log budget design draw take keep make")
_GAME_WORDS = frozenset(
    {
        "role",
        "part",
        "trick",
        "game",
        "games",
        "file",
        "video",
        "song",
        "music",
        "safe",
        "along",
        "around",
        "with",
        "back",
    }
)
_VISITED = Frame("visited", "has visited", past="holds", accepts=is_named, one=True)


def playing(clause: Clause) -> list[Finding]:
    """ "play the cello", "play chess" """
    phrases = coordinated(clause.rest[: until_stop(clause.rest)])
    if (
        clause.group.tense != "present"
        and not clause.ended
        and not (clause.group.progressive and clause.lasting)
        and not clause.lasting
    ):
        return []
    tail = f"{tail_of(clause.rest[until_stop(clause.rest) :])} {how_often(clause)}"
    return [
        found(clause, "hobby", phrase, "play", tail=tail)
        for phrase in phrases
        if phrase.low[0] not in {"this", "that", "it", "your", "with"}
        and (len(phrase.low) > 1 or phrase.low[0] not in _GAME_WORDS)
        and phrase.definite != "my"
    ]


def doing(clause: Clause) -> list[Finding]:
    tooled = with_tool(clause)
    if tooled:
        return tooled
    phrases = coordinated(clause.rest[: until_stop(clause.rest)])
    if "there" in clause.low:
        return []
    if (
        clause.low[:1]
        and clause.low[0] in {"a", "my"}
        and len(clause.low) > 1
        and clause.low[1] in {"phd", "masters", "master's", "degree", "bachelor's", "mba"}
    ):
        return _degree(clause)
    if clause.low[:1] == ("keto",) or clause.low[:1] == ("paleo",):
        return [found(clause, "diet", clause.rest[0].text, "do")]
    if clause.group.tense not in {"present", "perfect"} and not clause.ended:
        return []
    return [
        found(clause, "hobby", phrase, "do", tail=how_often(clause))
        for phrase in phrases
        if not ACTIVITIES.isdisjoint(phrase.low)
    ]


def habitual(clause: Clause) -> list[Finding]:
    """A habit, a hobby without an object, or nothing."""
    group = clause.group
    if group.lemma in _ALWAYS_HABITS and group.tense == "present" and all(word in ADVERBS for word in clause.low):
        return [habit(clause)]
    if (
        group.progressive
        or (group.tense != "present" and not clause.ended)
        or (group.negated and (not clause.ended or group.tense == "perfect"))
    ):
        return []
    if not {"this", "that", "it", "your", "you", "these", "those", "there", "here", "what"}.isdisjoint(clause.low):
        return []
    if group.lemma in _HABITS and (clause.often or clause.ended or _daily(clause)):
        return [habit(clause)] if clause.rest or group.lemma not in {"go", "take", "have", "do", "get"} else []
    if group.lemma == "volunteer" and clause.rest:
        return [habit(clause)]
    if (
        group.lemma in HOBBY_VERBS
        and not group.negated
        and (not clause.rest or clause.low[:2] in {("in", "a"), ("in", "my"), ("for", "fun")})
    ):
        return [
            told(
                clause,
                "hobby",
                inflect(group.lemma, "gerund"),
                sentence(clause.who, predicate(clause.who, group.lemma, standing=clause.standing)),
            )
        ]
    return []


def _daily(clause: Clause) -> bool:
    """ "wake up at 6", "take the bus to work" """
    low = clause.low
    if (
        clause.group.lemma in {"wake", "get", "go"}
        and low[:1] in {("up",), ("to",)}
        and ("at" in low or "around" in low)
    ):
        return low[-1][0].isdigit() or low[-1] in {"am", "pm"} or low[-1] in {"dawn", "sunrise"}
    return low[-2:] in {("to", "work"), ("to", "school"), ("the", "office")} and clause.group.lemma in {
        "walk",
        "cycle",
        "bike",
        "drive",
        "ride",
        "take",
        "commute",
        "run",
    }


def with_tool(clause: Clause) -> list[Finding]:
    """ "track my runs with Strava" """
    low = clause.low
    for word in ("with", "in", "using", "on"):
        if clause.group.lemma in _TOOLED and word in low[1:] and clause.group.tense == "present":
            at = low.index(word)
            phrase = cleaned(clause.rest[at + 1 : at + 1 + until_stop(clause.rest[at + 1 :])])
            if (
                phrase is not None
                and phrase.named
                and low[0] in {"my", "our", "notes", "all"}
                and (word != "in" or low[0] != "all")
            ):
                spoken = predicate(clause.who, clause.group.lemma, standing=clause.standing)
                return [
                    told(
                        clause,
                        "uses",
                        phrase.text,
                        sentence(clause.who, spoken, third_person(clause.rest[:at]), word, phrase.whole),
                    )
                ]
    return []


def collecting(clause: Clause) -> list[Finding]:
    phrases = coordinated(clause.rest[: until_stop(clause.rest, through=frozenset({"of", "from"}))])
    if clause.group.tense == "past" and not clause.ended:
        return []
    return [
        told(
            clause,
            "hobby",
            f"collecting {phrase.text}",
            sentence(clause.who, predicate(clause.who, "collect", standing=clause.standing), phrase.text),
        )
        for phrase in phrases
        if not vague(phrase) and phrase.low[-1].endswith("s") and not phrase.definite
    ]


def travelled(clause: Clause) -> list[Finding]:
    """ "visited Rome", "went to Morocco", "have been to Iceland" """
    group = clause.group
    rest = clause if clause.low[:1] != ("to",) else clause.after(1)
    if (
        group.progressive
        or (group.tense == "present" and not clause.ended)
        or (group.lemma not in {"visit"} and clause.low[:1] != ("to",))
    ):
        return []
    if group.lemma == "go" and not rest.rest:
        return []
    group = replace(group, tense="past", adverbs=group.adverbs - {"never"})
    phrases = with_frame(replace(rest, group=group), replace(_VISITED, one="and" not in rest.low))
    return [item for item in phrases if is_place_like(item.value) and rest.low[:1] not in {("a",), ("an",)}]


def is_place_like(value: str) -> bool:
    return value[:1].isupper() and value.split(" ")[-1].lower() not in {
        "university",
        "school",
        "college",
        "party",
        "doctor",
        "hospital",
    }


def media(attribute: str, verb: str) -> Callable[[Clause], list[Finding]]:
    def read(clause: Clause) -> list[Finding]:
        phrase = cleaned(clause.rest[: until_stop(clause.rest, through=frozenset({"of", "in", "on", "the"}))])
        if phrase is None or not phrase.named or not (clause.group.progressive or clause.ended):
            return []
        if phrase.low[0] in {"your", "this"} or clause.group.negated:
            return []
        text = sentence(clause.who, "finished" if clause.ended else "is", inflect(verb, "gerund"), phrase.whole)
        return [told(clause, attribute, phrase.text, text)]

    return read


def taking(clause: Clause) -> list[Finding]:
    """Medicine, or a way to work."""
    tokens = _without_dose(clause.rest)
    end = until_stop(tokens, through=frozenset({"of"}))
    phrases = coordinated(tokens[:end])
    medicine = [
        phrase
        for phrase in phrases
        if not MEDICINE.isdisjoint(phrase.low)
        or phrase.head.endswith(MEDICINE_ENDINGS)
        and phrase.head not in {"shower", "quinine"}
    ]
    if medicine and (clause.group.tense == "present" or clause.lasting or clause.ended):
        return [found(clause, "takes", phrase, "take", tail=tail_of(tokens[end:])) for phrase in medicine]
    return with_tool(clause) or habitual(clause)


def _without_dose(tokens: Sequence[Token]) -> Sequence[Token]:
    low = words(tokens)
    if low and low[0][0].isdigit():
        skip = 1 if not low[0].isdecimal() else 2
        return tokens[skip + 1 :] if low[skip : skip + 1] == ("of",) else tokens[skip:]
    return tokens


def knowing(clause: Clause) -> list[Finding]:
    low = clause.low
    if low[:2] == ("how", "to") and len(low) > 2:
        return [_ability(clause, third_person(clause.rest[2:]), "know how to")]
    phrases = coordinated(clause.rest[: until_stop(clause.rest)])
    spoken = [found(clause, "speaks", phrase, "know") for phrase in phrases if phrase.text.lower() in NATIONALITIES]
    return spoken + [
        found(clause, "skill", phrase, "know")
        for phrase in phrases
        if phrase.text.lower() in LANGUAGES_OF_CODE and phrase.named
    ]


def _ability(clause: Clause, value: str, verb: str) -> Finding:
    return told(
        clause, "skill", value, sentence(clause.who, predicate(clause.who, verb, standing=clause.standing), value)
    )


def happened(clause: Clause) -> list[Finding]:
    """A few things that happen once and are worth keeping."""
    group, low = clause.group, clause.low
    if group.negated or group.progressive or group.tense == "present":
        return []
    if not _worth(group.lemma, clause.rest):
        return []
    end = next(
        (
            place
            for place, token in enumerate(clause.rest)
            if token.low in {",", "but", "because", "so", "when", "and", "after"}
        ),
        len(clause.rest),
    )
    past = inflect(group.lemma, "past")
    value = f"{past} {third_person(clause.rest[:end])}".strip()
    return [told(clause, "event", value, sentence(clause.who, value))] if len(low) <= 8 else []


_ONCE: dict[str, frozenset[str]] = {
    "pass": frozenset({"test", "exam", "exams", "bar", "finals", "driving", "interview"}),
    "win": frozenset(
        {
            "contest",
            "prize",
            "award",
            "tournament",
            "race",
            "medal",
            "match",
            "scholarship",
            "lottery",
            "championship",
            "competition",
        }
    ),
    "run": frozenset({"marathon", "race", "half-marathon", "10k", "5k", "ultramarathon"}),
    "break": BODY_PARTS
    | frozenset({"leg", "arm", "foot", "finger", "toe", "collarbone", "rib", "nose", "hand", "elbow", "hip"}),
    "have": frozenset({"attack", "stroke", "baby", "surgery", "miscarriage", "operation", "accident"}),
    "start": frozenset({"school", "kindergarten", "college", "university", "daycare", "preschool"}),
    "publish": frozenset({"book", "novel", "paper", "article", "album"}),
    "complete": frozenset({"marathon", "course", "degree", "phd", "thesis", "bootcamp"}),
    "finish": frozenset(
        {"school", "college", "university", "degree", "phd", "thesis", "marathon", "bootcamp", "residency"}
    ),
    "defend": frozenset({"thesis", "dissertation"}),
    "tear": frozenset({"acl", "ligament", "meniscus"}),
    "found": frozenset({"company", "startup", "nonprofit", "business"}),
    "launch": frozenset({"startup", "business", "podcast", "company"}),
}


def _worth(lemma: str, tokens: Sequence[Token]) -> bool:
    low = words(tokens)
    if lemma == "graduate":
        return not low or low[0] in {"college", "university", "high", "school", "with"}
    return (
        lemma in _ONCE
        and not _ONCE[lemma].isdisjoint(low)
        and (low[0] not in {"the", "this", "that", "your"} or tokens[1].named)
    )


def weighing(clause: Clause) -> list[Finding]:
    tokens = clause.rest[1:] if clause.low[:1] in {("around",), ("about",)} else clause.rest
    ok = bool(tokens) and tokens[0].low[0].isdigit() and clause.group.tense == "present"
    return [found(clause, "weight", surface(tokens[:2]), "weigh")] if ok else []


def turning(clause: Clause) -> list[Finding]:
    """ "turned 41", "turned vegan" """
    low = clause.low
    if len(low) == 1 and low[0] in DIETS and clause.group.tense != "present":
        return [found(clause, "diet", clause.rest[0].text, "be")]
    if (
        low
        and low[0].isdecimal()
        and 0 < int(low[0][:4]) < 120
        and clause.group.tense != "present"
        and (len(low) == 1 or low[1] in {"years", "and", "last", "this"})
    ):
        return [found(clause, "age", low[0], "be", tail="years old")]
    return []
