"""What is not so yet: plans with their dates, wants, and what someone is working on.

None of it is ever written as if it were so.
"""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.group import known_verbs
from commonplace.adapters.rules.lexicon import POINTING, RELATIONS
from commonplace.adapters.rules.moments import shown
from commonplace.adapters.rules.phrases import cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.render import predicate, seen_from_outside, sentence, third_person
from commonplace.adapters.rules.tokens import Token, words
from commonplace.adapters.rules.verbs import inflect
from commonplace.adapters.rules.wordsets import word_set

_ENDS = frozenset({",", "but", "because", "so", "when", "while", "if", "i", "we", "which", "who", "please", "?"})
_LIFE = word_set(
    "start move buy sell learn quit retire marry adopt study visit travel open launch apply renovate join become"
    " relocate emigrate"
)
"""Plans worth keeping without a date."""
_GOING = word_set("fly go leave move meet visit start travel get host attend drive arrive return")
"""What "today" makes a plan of; everything else "I am doing today" is the moment."""
_CHAT = word_set(
    "ask tell try send show need let see give say talk check look use grab head be think consider wonder hope wish"
    " feel seem"
)
_ASKED = frozenset({"you", "your", "yours"})
_WISHED = word_set(
    "visit travel learn own live move buy become retire climb open study adopt marry lose quit speak work go see"
    " have hike try sail start"
    " get run play write publish swim volunteer emigrate relocate renovate"
)
"""What people wish for in life, not what they ask of an assistant."""
_WANT_THINGS = word_set(
    "answer answers list summary recipe refund example examples explanation table code response story poem plan help"
    " information info advice tips suggestion suggestions idea ideas something more less one short"
)
_MAKING = frozenset(
    {"build", "write", "develop", "design", "create", "renovate", "restore", "compose", "record", "make"}
)
_SHAPELESS = frozenset(
    {"project", "projects", "task", "assignment", "issue", "problem", "bug", "feature", "part", "presentation", "tests"}
    | {
        "difference",
        "mistake",
        "living",
        "point",
        "mess",
        "fuss",
        "change",
        "effort",
        "case",
        "deal",
        "fool",
        "decision",
    }
)
_MADE = word_set(
    "query function script prompt request code email message report essay reply file test loop class list list"
)


def verb_phrase(tokens: Sequence[Token], lemma: str) -> str:
    """ "visit my parents" as a value: "visit their parents"."""
    end = next((place for place, token in enumerate(tokens) if token.low in _ENDS), len(tokens))
    return f"{lemma} {third_person(_trimmed(tokens[:end]))}".strip()


def _trimmed(tokens: Sequence[Token]) -> Sequence[Token]:
    while tokens and tokens[-1].low in {
        "someday",
        "again",
        "soon",
        "too",
        "anymore",
        "and",
        ".",
        "!",
        "one",
        "day",
        "though",
        "eventually",
    }:
        tokens = tokens[:-1]
    return tokens


def planned(clause: Clause) -> list[Finding]:
    """ "am flying to Lisbon next Friday", "will be in Vienna next week", "am going to start a podcast" """
    span = clause.dated(ahead=True)
    group = clause.group
    if (
        group.negated
        or (span is not None and span.stop <= clause.at)
        or any(word in POINTING for word in clause.low[:1])
    ):
        return []
    if (span is None and not _life(clause)) or (group.lemma == "work" and clause.low[:1] == ("on",)):
        return []
    if (
        group.progressive
        and not group.modal
        and span is not None
        and span.start <= clause.at
        and group.lemma not in _GOING
    ):
        return []
    if (
        span is not None
        and group.lemma in _CHAT
        and not (group.lemma == "be" and clause.low[:1] in {("in",), ("at",), ("on",)})
    ):
        return []
    value = verb_phrase(clause.rest, group.lemma)
    lead = "will" if group.modal == "will" else "is going to" if not group.progressive else "is"
    verb = inflect(group.lemma, "gerund") if group.progressive and not group.modal else group.lemma
    when = shown(span) if span is not None else ""
    text = sentence(clause.who, lead, verb, value[len(group.lemma) :].strip(), when)
    return [told(clause, "plans", value, text, when="spans")] if len(value) < 90 else []


def called_off(clause: Clause) -> list[Finding]:
    """ "am not moving to Austin after all", "am no longer flying to Rome" """
    low, group = clause.low, clause.group
    after_all = low[-2:] == ("after", "all")
    if group.lemma not in _LIFE | _GOING | {"do", "run", "take"} or not (after_all and group.negated or clause.ended):
        return []
    value = verb_phrase(clause.rest[:-2] if after_all else clause.rest, group.lemma)
    text = sentence(clause.who, "is not going to", value)
    if group.lemma == "do":
        value = value.removeprefix("do ").removeprefix("the ")
        return [replace(told(clause, "plans", value, text, standing="ended"), confidence=0.4)] if value != "do" else []
    return [told(clause, "plans", value, text, standing="ended")] if value != group.lemma else []


def _life(clause: Clause) -> bool:
    group, low = clause.group, clause.low
    if group.modal == "going":
        return group.lemma in _LIFE and bool(low) and low[0] not in {"the", "this", "that", "with", "by", "over", "on"}
    if not group.progressive or group.modal:
        return False
    return (group.lemma in {"move", "relocate", "emigrate"} and low[:1] == ("to",)) or (
        group.lemma == "get" and low[:1] == ("married",)
    )


def planning(clause: Clause) -> list[Finding]:
    """ "plan to retire in 2030", "planning a trip to Patagonia" """
    low = clause.low
    if clause.group.negated:
        return []
    if low[:1] in {("to",), ("on",)} and len(low) > 1:
        found_verb = known_verbs().find(low[1])
        lemma = found_verb[0] if found_verb is not None else low[1]
        value = verb_phrase(clause.rest[2:], lemma)
        span = clause.dated(ahead=True)
        if lemma in _CHAT or _pointing(value) or (span is None and lemma not in _LIFE | _WISHED):
            return []
        return [
            told(
                clause,
                "plans",
                value,
                sentence(clause.who, "plans to", value, shown(span) if span else ""),
                when="spans",
            )
        ]
    if not clause.group.progressive:
        return []
    phrase = cleaned(clause.rest[: until_stop(clause.rest, through=frozenset({"to", "of", "in", "for"}))])
    if phrase is None or vague(phrase) or phrase.definite or (phrase.whole == phrase.text and not phrase.named):
        return []
    text = sentence(clause.who, "is planning", seen_from_outside(phrase.whole))
    return [told(clause, "plans", seen_from_outside(phrase.text), text, when="spans")]


def wanting(clause: Clause) -> list[Finding]:
    """A wish stays a wish. What is asked of the assistant is none."""
    tokens = clause.rest
    low = words(tokens)
    if clause.group.tense == "past" or not low or not clause.who.is_user or not _ASKED.isdisjoint(low):
        return []
    if low[0] in {"to", "of"} and len(low) > 1:
        known = known_verbs().find(low[1])
        lemma = known[0] if known is not None else low[1]
        if not _wished(lemma, low[2:]):
            return []
        value = verb_phrase(tokens[2:], lemma)
        return [_wish(clause, value, f"want to {value}")] if len(value) < 80 and not _pointing(value) else []
    if clause.group.lemma not in {"want"} or clause.group.modal:
        return []
    phrases = coordinated(tokens[: until_stop(tokens, through=frozenset({"of", "with"}))])
    return [
        found(clause, "wants", phrase, "want")
        for phrase in phrases
        if not vague(phrase)
        and not phrase.definite
        and _WANT_THINGS.isdisjoint(phrase.low)
        and (phrase.whole != phrase.text or phrase.head in RELATIONS)
    ]


def _wished(lemma: str, low: tuple[str, ...]) -> bool:
    if lemma not in _WISHED or (
        lemma
        in {
            "go",
            "see",
            "try",
            "get",
            "have",
            "start",
            "write",
            "play",
            "work",
            "open",
            "learn",
            "study",
            "buy",
            "own",
            "visit",
        }
        and not low
    ):
        return False
    if lemma in {"see", "try", "get", "have", "start", "write", "work"} and low[0] in {
        "the",
        "with",
        "on",
        "some",
        "from",
        "how",
        "what",
        "more",
        "out",
        "in",
    }:
        return low[0] == "the" and lemma == "see"
    if lemma == "run":
        return not {"marathon", "race", "ultramarathon", "business", "company"}.isdisjoint(low)
    return low[:1] not in {("from",), ("about",), ("back",)} and (low[:1] != ("how",) or low[1:2] == ("to",))


_POINTS = frozenset({"it", "this", "that", "them", "so", "these", "those", "your", "you"})


def _pointing(value: str) -> bool:
    return not _POINTS.isdisjoint(value.split())


def _wish(clause: Clause, value: str, verb: str) -> Finding:
    return told(
        clause, "wants", value, sentence(clause.who, predicate(clause.who, verb, standing=clause.standing)), when="none"
    )


def making(clause: Clause) -> list[Finding]:
    """ "am writing a novel", "am working on a startup", "am training for a triathlon" """
    low = clause.low
    if not clause.group.progressive or clause.group.negated or clause.group.tense == "past":
        return []
    if clause.group.lemma in {"work", "train", "study", "prepare"}:
        if low[:1] not in {("on",), ("for",)}:
            return []
        return _made(clause.after(1), f"{inflect(clause.group.lemma, 'gerund')} {low[0]}")
    return _made(clause, inflect(clause.group.lemma, "gerund")) if clause.group.lemma in _MAKING else []


def _made(clause: Clause, verb: str) -> list[Finding]:
    end = until_stop(clause.rest, through=frozenset({"of", "about"}))
    phrase = cleaned(clause.rest[:end])
    if (
        phrase is None
        or vague(phrase)
        or phrase.head in _SHAPELESS
        or not _MADE.isdisjoint(phrase.low)
        or phrase.whole == phrase.text
        and not phrase.named
    ):
        return []
    return [
        told(
            clause,
            "works_on",
            phrase.text,
            sentence(clause.who, "is", verb, phrase.whole.replace("my ", "their ")),
            when="none",
        )
    ]
