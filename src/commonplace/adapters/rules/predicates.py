"""From a clause to what it says: by its verb, through tense and mood. Verbs that open on another verb ("stopped using") hand it on."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.adapters.rules import activity, ahead, changes
from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.copula import adjective_frame, copula, passive
from commonplace.adapters.rules.frames import FRAMES, Frame, framed, is_place, with_frame
from commonplace.adapters.rules.group import known_verbs
from commonplace.adapters.rules.having import acquired, having, things_lost
from commonplace.adapters.rules.lexicon import ACTIVITIES, BUSINESSES, DIETS, HEDGES, HOBBY_VERBS, PLACE_NOUNS, SCHOOL_WORDS
from commonplace.adapters.rules.phrases import cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.render import predicate, sentence, third_person
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.verbs import base_of_gerund

Reader = Callable[[Clause], list[Finding]]

_SKILLS = frozenset("swim drive cook ride sing dance read write code type ski skate juggle weld whistle dive sew knit play bake draw paint surf climb program sail fly".split())
_EATING = frozenset({"eat", "have", "drink", "digest", "tolerate", "consume"})
_MOMENTARY = frozenset({"eat", "drink", "drive", "wear", "buy", "purchase", "like", "love", "hate", "own", "become", "know", "have", "support", "avoid", "speak"})
"""In the progressive these tell of the moment, not of a state."""
_SCHEDULED = frozenset({"start", "fly", "leave", "arrive", "travel", "graduate", "move", "begin", "retire", "go"})
"""In the present these tell of what is fixed: "I fly to Lisbon on Friday"."""
_DISLIKES = Frame("dislikes", "dislike", past="holds", through=frozenset({"of", "about", "in", "with"}))
_AVOIDS = Frame("avoids", "avoid")
_NOT_GERUND = frozenset({"nothing", "something", "anything", "everything", "king", "spring", "string", "ring", "thing", "bring"})


def read(clause: Clause) -> list[Finding]:
    """Return what the clause says; nothing when in doubt."""
    group = clause.group
    if not HEDGES.isdisjoint(group.adverbs):
        return []
    if group.modal:
        return _modal(clause)
    if group.progressive and group.tense != "perfect":
        return _progressive(clause)
    return _plain(clause)


def _plain(clause: Clause) -> list[Finding]:
    if clause.group.passive:
        return passive(clause)
    reader = _READERS.get(clause.group.lemma)
    if clause.group.lemma in _SCHEDULED and clause.group.tense == "present" and not clause.group.negated and _upcoming(clause):
        return ahead.planned(replace(clause, group=replace(clause.group, modal="will")))
    findings = reader(clause) if reader is not None else []
    return findings or framed(clause) or activity.with_tool(clause) or activity.habitual(clause) or activity.happened(clause)


def _progressive(clause: Clause) -> list[Finding]:
    group = clause.group
    if group.tense == "past" and not clause.ended:
        return []
    if group.lemma in {"plan"}:
        return ahead.planning(clause)
    if group.lemma in {"want", "hope", "dream", "wish"} or clause.low[:1] == ("you",):
        return []
    findings = ahead.making(clause) if not _upcoming(clause) or group.lemma in {"train", "prepare"} else []
    findings = findings or (ahead.planned(clause) if not group.negated else [])
    if findings or group.lemma in _MOMENTARY:
        return findings
    if group.lemma in {"stay", "crash"} and clause.low[:1] == ("in",):
        return with_frame(clause.after(1), Frame("home", "stay in", one=True, accepts=is_place))
    return _plain(clause)


def _upcoming(clause: Clause) -> bool:
    span = clause.dated(ahead=True)
    return span is not None and span.stop > clause.at and not any(moment.said.startswith(("this", "last")) for moment in clause.moments)


def _modal(clause: Clause) -> list[Finding]:
    modal, lemma = clause.group.modal, clause.group.lemma
    if modal == "would":
        return ahead.wanting(clause) if lemma in {"like", "love"} and clause.low[:1] == ("to",) and not clause.group.negated else []
    if modal in {"going", "will"}:
        return ahead.planned(clause)
    return _can(clause) if modal == "can" else []


def _can(clause: Clause) -> list[Finding]:
    lemma = clause.group.lemma
    stated = replace(clause, group=replace(clause.group, modal="", negated=False))
    if clause.group.negated and not clause.ended:
        if lemma in {"stand", "bear"}:
            return with_frame(stated, _DISLIKES)
        if lemma in _EATING:
            return [item for item in with_frame(stated, _AVOIDS) if item.value.islower() or item.value[:1].isupper()] if lemma != "have" or len(clause.low) == 1 else []
    if lemma == "speak":
        return with_frame(replace(clause, group=replace(clause.group, modal="")), FRAMES["speak"])
    if lemma not in _SKILLS or len(clause.low) > 5 or (clause.low and clause.low[0] in {"this", "it", "that", "your", "together", "with", "in", "to", "more", "for", "on"}):
        return []
    end = clause.low.index("to") if "to" in clause.low else len(clause.rest)
    value = f"{lemma} {third_person(clause.rest[:end])}".strip()
    verb = "cannot" if clause.group.negated else "can"
    return [told(clause, "skill", value, sentence(clause.who, verb, value))]


def _inner(clause: Clause, tokens: Sequence[Token], *, ended: bool) -> list[Finding] | None:
    """Read "using Facebook" after "stopped". None when no verb stands there."""
    if not tokens or not tokens[0].low.endswith("ing") or tokens[0].low in _NOT_GERUND or len(tokens[0].low) < 5:
        return None
    word = tokens[0].low
    known = known_verbs().find(word)
    lemma = known[0] if known is not None and known[1] == "gerund" else base_of_gerund(word)
    inner = clause.with_verb(lemma, tokens[1:], ended=ended)
    if lemma == "drink" and not inner.rest:
        return [found(inner, "consumes", "alcohol", "drink")]
    if lemma in HOBBY_VERBS and not inner.rest or word in ACTIVITIES:
        return [told(inner, "hobby", word, sentence(inner.who, predicate(inner.who, f"do {word}", standing=inner.standing)))]
    return _plain(inner)


def starting(clause: Clause) -> list[Finding]:
    """ "started using Anki", "started at Shopify", "started a job at …" """
    if clause.group.negated:
        return []
    low = clause.low
    inner = _inner(replace(clause, marks=clause.marks | {"began"}), clause.rest, ended=False)
    if inner is not None:
        return inner
    if low[:1] == ("at",) and len(low) > 1 and clause.rest[1].named:
        return with_frame(clause.after(1), Frame("employer", "work at", past="holds", one=True))
    if "job" in low[:4] and clause.group.tense != "present":
        return _new_job(clause)
    if clause.group.tense == "past" and low[:1] and low[0] in ACTIVITIES:
        return [found(clause, "hobby", clause.rest[0].text, "do")]
    return activity.happened(clause)


def _new_job(clause: Clause) -> list[Finding]:
    """ "a new job as a data scientist at Netflix" """
    low = clause.low
    post = Frame("job", "work as", past="holds")
    findings = with_frame(clause.after(low.index("as") + 1), post) if "as" in low else []
    return findings + (with_frame(clause.after(low.index("at") + 1), Frame("employer", "work at", past="holds", one=True)) if "at" in low else [])


def stopping(clause: Clause) -> list[Finding]:
    if clause.group.negated or (clause.group.tense == "present" and clause.group.lemma != "quit"):
        return []
    inner = _inner(clause, clause.rest, ended=True)
    return inner if inner is not None else changes.quitting(clause) if clause.group.lemma == "quit" else []


def giving(clause: Clause) -> list[Finding]:
    """ "gave up sugar", "gave up smoking", "gave our cat away" """
    if clause.group.negated or clause.group.tense == "present":
        return []
    if clause.low[:1] == ("up",):
        clause = clause.after(1 if clause.low[1:2] != ("on",) else 2)
        inner = _inner(clause, clause.rest, ended=True)
        return inner if inner is not None else changes.quitting(clause)
    return things_lost(clause, "gave away") if "away" in clause.low else []


def going(clause: Clause) -> list[Finding]:
    """ "went vegan", "went back to using X", "went to Morocco", "go to Stanford" """
    low, group = clause.low, clause.group
    if low[:1] and low[0] in DIETS and group.tense != "present":
        return [found(clause, "diet", clause.rest[0].text, "be")]
    if low[:1] == ("from",) and "to" in low and group.tense != "present":
        return changes.switching(clause.with_verb("switch", clause.rest, past=True))
    if low[:2] == ("back", "to") and group.tense != "present":
        return returning(clause.after(1))
    if low[:2] == ("by", low[1] if len(low) > 1 else "") and group.tense == "present" and len(low) > 1:
        return [found(clause, "nickname", third_person(clause.rest[1:2]), "go by")] if clause.rest[1].named else []
    if low[:1] == ("to",) and len(low) > 1 and group.tense == "present" and clause.rest[1].named and not SCHOOL_WORDS.isdisjoint(low):
        return with_frame(clause.after(1), Frame("school", "go to", past="ended", one=True))
    return activity.habitual(clause) if clause.ended or group.tense == "present" else activity.travelled(clause)


def returning(clause: Clause) -> list[Finding]:
    """ "back to using Vim", "returned to Emacs" """
    if clause.low[:1] not in {("to",), ("on",)} or clause.group.negated:
        return []
    tokens = clause.rest[1:]
    inner = _inner(clause, tokens, ended=False)
    if inner is not None:
        return inner
    return [item for item in with_frame(replace(clause, rest=tokens), Frame("uses", "use", past="holds", one=True)) if item.value[:1].isupper()]


def being(clause: Clause) -> list[Finding]:
    """ "am", with the few things that stand behind it as if it were another verb."""
    low = clause.low
    if low[:1] == ("back",):
        return returning(clause.after(1))
    if low[:1] == ("to",) and clause.group.tense == "perfect":
        return activity.travelled(clause)
    if low[:1] in {("at",), ("with",)} and clause.lasting and clause.group.tense == "perfect" and clause.rest[1].named:
        return with_frame(clause.after(1), Frame("employer", "work at", one=True))
    if low[:3] == ("an", "only", "child"):
        return [told(clause, "sibling", "siblings", sentence(clause.who, "is an only child"), standing="denied")]
    if low[:2] == ("expecting", "a"):
        return []
    return copula(clause)


def becoming(clause: Clause) -> list[Finding]:
    return copula(clause.with_verb("be", clause.rest)) if clause.group.tense != "present" and not clause.group.negated else []


def finishing(clause: Clause) -> list[Finding]:
    """ "finished reading Dune", "finished The Brothers Karamazov" """
    if clause.group.negated or clause.group.tense == "present":
        return []
    inner = _inner(clause, clause.rest, ended=True)
    if inner is not None:
        return inner
    events = activity.happened(clause)
    titled = bool(clause.rest) and clause.rest[0].named and not events
    return activity.media("reads", "read")(clause.with_verb("read", clause.rest, ended=True)) if titled else events


def taking_up(clause: Clause) -> list[Finding]:
    if clause.low[:1] == ("up",) and clause.group.tense != "present" and not clause.group.negated:
        phrases = coordinated(clause.rest[1 : 1 + until_stop(clause.rest[1:])])
        return [found(clause, "hobby", phrase, "do") for phrase in phrases if not vague(phrase) and not phrase.definite == "my"]
    return activity.taking(clause)


def picking_up(clause: Clause) -> list[Finding]:
    """ "picked up knitting" """
    word = clause.low[1] if len(clause.low) > 1 else ""
    if clause.low[:1] != ("up",) or clause.group.tense == "present" or clause.group.negated or not (word in ACTIVITIES or word.endswith("ing")):
        return []
    return [found(clause, "hobby", word, "do")]


def trying(clause: Clause) -> list[Finding]:
    """ "try to avoid sugar", "am trying to learn Italian" """
    if clause.low[:2] in {("to", "avoid"), ("to", "learn")} and clause.group.tense == "present" and not clause.group.negated:
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
    if clause.low[:1] and clause.low[0] in {"poetry", "poems", "songs", "music", "stories", "fiction", "novels", "haiku"} and clause.group.tense == "present" and not clause.group.negated:
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
    if phrase is not None and phrase.head in BUSINESSES and phrase.definite != "the" and (clause.group.tense == "present" or clause.ended):
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
    return framed(clause)


def renting(clause: Clause) -> list[Finding]:
    """ "rent a flat in Leith" is where one lives."""
    phrase = cleaned(clause.rest[: until_stop(clause.rest)])
    if phrase is None or phrase.head not in PLACE_NOUNS | {"room", "place"} or "in" not in clause.low:
        return []
    return with_frame(clause.after(clause.low.index("in") + 1), Frame("home", "live in", past="ended", one=True, accepts=is_place))


def keeping(clause: Clause) -> list[Finding]:
    if clause.low in {("kosher",), ("halal",)}:
        return [found(clause, "diet", clause.rest[0].text, "keep")]
    return _inner(clause, clause.rest, ended=False) or []


def eating(clause: Clause) -> list[Finding]:
    if len(clause.low) == 1 and clause.low[0] in DIETS:
        return [found(clause, "diet", clause.rest[0].text, "eat")]
    if not clause.rest and clause.group.lemma == "drink" and clause.group.negated:
        return [replace(found(clause, "avoids", "alcohol", "drink", standing=None if clause.ended else "denied"), standing="ended" if clause.ended else "holds")]
    if clause.group.tense != "present" and not clause.ended and not clause.lasting:
        return []
    if clause.low[:1] and clause.low[0] in {"breakfast", "lunch", "dinner", "out", "too", "at", "more", "less", "a", "two", "three"}:
        return activity.habitual(clause)
    if clause.low[:1] == ("my",):
        return [found(clause, "consumes", third_person(clause.rest[1:]), clause.group.lemma, standing=None)] if len(clause.low) <= 4 and not clause.group.negated else []
    return framed(clause)


def growing(clause: Clause) -> list[Finding]:
    """ "grown fond of crosswords" """
    return adjective_frame(clause.with_verb("be", clause.rest)) or [] if clause.low[:1] == ("fond",) else []


def dropping(clause: Clause) -> list[Finding]:
    if clause.low[:2] == ("out", "of"):
        return with_frame(replace(clause.after(2), group=replace(clause.group, ended=True)), Frame("school", "attend", past="ended", one=True))
    return changes.switching(clause)


def having_or_event(clause: Clause) -> list[Finding]:
    return activity.happened(clause) or having(clause) or activity.habitual(clause)


def having_breakfast(clause: Clause) -> list[Finding]:
    if clause.low[:1] in {("breakfast",), ("lunch",), ("dinner",)}:
        return [activity.habit(clause)] if clause.often or "at" in clause.low else []
    return having_or_event(clause)


def selling(clause: Clause) -> list[Finding]:
    return things_lost(clause, "sold") if clause.group.tense != "present" and not clause.group.negated else []


def table(clause: Clause) -> list[Finding]:
    working = activity.working(clause)
    return working if working is not None else framed(clause)


def retiring(clause: Clause) -> list[Finding]:
    return [found(clause, "job", "retired", "be")] if clause.group.tense != "present" and not clause.group.negated else []


_READERS: dict[str, Reader] = {
    "be": being, "have": having_breakfast, "get": changes.getting, "want": ahead.wanting, "hope": ahead.wanting, "dream": ahead.wanting, "plan": ahead.planning,
    "start": starting, "begin": starting, "stop": stopping, "quit": stopping, "give": giving, "go": going, "return": returning, "become": becoming,
    "finish": finishing, "take": taking_up, "consider": considering, "identify": identifying, "care": caring, "run": running, "rent": renting, "keep": keeping,
    "eat": eating, "drink": eating, "grow": growing, "drop": dropping, "sell": selling, "work": table, "retire": retiring,
    "move": changes.moving, "relocate": changes.moving, "emigrate": changes.moving, "switch": changes.switching, "swap": changes.switching, "replace": changes.switching,
    "migrate": changes.switching, "trade": changes.switching, "ditch": changes.switching, "change": changes.switching, "upgrade": changes.switching, "abandon": changes.switching,
    "leave": changes.leaving, "resign": changes.leaving, "join": changes.joining, "break": changes.splitting, "split": changes.splitting,
    "cancel": changes.quitting, "delete": changes.quitting, "uninstall": changes.quitting, "cut": changes.quitting, "lose": changes.quitting,
    "marry": changes.marrying, "divorce": changes.divorcing, "date": changes.dating, "hand": changes.giving_notice,
    "pick": picking_up, "try": trying, "unsubscribe": unsubscribing, "follow": following, "write": writing, "share": renting, "earn": changes.graduating, "receive": changes.graduating, "adopt": acquired, "buy": acquired, "purchase": acquired, "play": activity.playing, "do": activity.doing, "study": activity.studying,
    "collect": activity.collecting, "teach": activity.teaching, "visit": activity.travelled, "travel": activity.travelled, "fly": activity.travelled,
    "read": activity.media("reads", "read"), "watch": activity.media("watches", "watch"), "know": activity.knowing,
    "live": living, "use": using, "weigh": activity.weighing, "turn": activity.turning, "prefer": framed,
}  # fmt: skip
_ = (Token,)
