"""From a clause to what it says: by its verb, through tense and mood.

Verbs that open on another verb ("stopped using") hand it on.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.adapters.rules import activity, ahead, changes, together
from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.copula import copula, passive
from commonplace.adapters.rules.everyday import (
    able,
    becoming,
    caring,
    coming_off,
    considering,
    dropping,
    eating,
    following,
    giving_birth,
    gone_off,
    growing,
    having_breakfast,
    identifying,
    living,
    picking_up,
    preferring,
    putting_down,
    renting,
    retiring,
    running,
    selling,
    table,
    taking_up,
    trying,
    unsubscribing,
    using,
    writing,
)
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.frames import framed, is_place
from commonplace.adapters.rules.group import known_verbs
from commonplace.adapters.rules.having import acquired, things_lost
from commonplace.adapters.rules.lexicon import ADVERBS, HEDGES
from commonplace.adapters.rules.render import predicate, sentence, third_person
from commonplace.adapters.rules.switching import gone_over, switching
from commonplace.adapters.rules.tokens import Token, words
from commonplace.adapters.rules.topics import ACTIVITIES, DIETS, HOBBY_VERBS, SCHOOL_WORDS
from commonplace.adapters.rules.verbs import base_of_gerund
from commonplace.adapters.rules.wordsets import word_set
from commonplace.adapters.rules.working import new_job, started_at, studying, teaching

Reader = Callable[[Clause], list[Finding]]
_MOMENTARY = word_set("eat drink drive wear buy purchase like love hate own become know have support avoid speak")
"""In the progressive these tell of the moment, not of a state."""
_SCHEDULED = frozenset({"start", "fly", "leave", "arrive", "travel", "graduate", "move", "begin", "retire", "go"})
"""In the present these tell of what is fixed: "I fly to Lisbon on Friday"."""
_NOT_GERUND = frozenset(
    {"nothing", "something", "anything", "everything", "king", "spring", "string", "ring", "thing", "bring"}
)


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
    if (
        clause.group.lemma in _SCHEDULED
        and clause.group.tense == "present"
        and not clause.group.negated
        and _upcoming(clause)
    ):
        return ahead.planned(replace(clause, group=replace(clause.group, modal="will")))
    findings = reader(clause) if reader is not None else []
    return (
        findings
        or framed(clause)
        or activity.with_tool(clause)
        or activity.habitual(clause)
        or activity.happened(clause)
    )


def _progressive(clause: Clause) -> list[Finding]:
    group = clause.group
    if group.tense == "past" and not clause.ended:
        return []
    off = ahead.called_off(clause)
    if off:
        return off
    if group.lemma in {"plan"}:
        return ahead.planning(clause)
    if group.lemma in {"want", "hope", "dream", "wish"} or clause.low[:1] == ("you",):
        return []
    findings = ahead.making(clause) if not _upcoming(clause) or group.lemma in {"train", "prepare"} else []
    findings = findings or (ahead.planned(clause) if not group.negated else [])
    if findings or group.lemma in _MOMENTARY:
        return findings
    return _staying(clause) if group.lemma in {"stay", "crash"} and clause.low[:1] == ("in",) else _plain(clause)


def _staying(clause: Clause) -> list[Finding]:
    """A stay with an end is no home."""
    if any(moment.role in {"for", "until", "point"} for moment in clause.moments):
        return []
    return with_frame(clause.after(1), Frame("home", "stay in", one=True, accepts=is_place))


def _upcoming(clause: Clause) -> bool:
    span = clause.dated(ahead=True)
    return (
        span is not None
        and span.stop > clause.at
        and not any(moment.said.startswith(("this", "last")) for moment in clause.moments)
    )


def _modal(clause: Clause) -> list[Finding]:
    modal, lemma = clause.group.modal, clause.group.lemma
    if modal == "would" and "rather" in clause.group.adverbs:
        return preferring(clause)
    if modal == "would":
        return (
            ahead.wanting(clause)
            if lemma in {"like", "love"} and clause.low[:1] == ("to",) and not clause.group.negated
            else []
        )
    if modal in {"going", "will"}:
        return ahead.called_off(clause) or (ahead.planned(clause) if clause.group.tense != "past" else [])
    return able(clause) if modal == "can" else []


def _inner(clause: Clause, tokens: Sequence[Token], *, ended: bool) -> list[Finding] | None:
    """Read "using Facebook" after "stopped". None when no verb stands there."""
    if not tokens or not tokens[0].low.endswith("ing") or tokens[0].low in _NOT_GERUND or len(tokens[0].low) < 5:
        return None
    word = tokens[0].low
    known = known_verbs().find(word)
    lemma = known[0] if known is not None and known[1] == "gerund" else base_of_gerund(word)
    inner = clause.with_verb(lemma, tokens[1:], ended=ended)
    if lemma == "drink" and all(word in ADVERBS for word in inner.low):
        return [found(inner, "consumes", "alcohol", "drink")]
    if lemma in HOBBY_VERBS and not inner.rest or word in ACTIVITIES:
        return [
            told(inner, "hobby", word, sentence(inner.who, predicate(inner.who, f"do {word}", standing=inner.standing)))
        ]
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
        return started_at(clause.after(1))
    if "job" in low[:4] and clause.group.tense != "present":
        return new_job(clause)
    if clause.group.tense == "past" and low[:1] and low[0] in ACTIVITIES:
        return [found(clause, "hobby", clause.rest[0].text, "do")]
    return activity.happened(clause)


def stopping(clause: Clause) -> list[Finding]:
    if clause.group.negated or (clause.group.tense == "present" and clause.group.lemma != "quit"):
        return []
    if clause.group.tense != "perfect" and _paused(clause):
        return []
    inner = _inner(clause, _without_emphasis(clause.rest), ended=True)
    return inner if inner is not None else changes.quitting(clause) if clause.group.lemma == "quit" else []


def _paused(clause: Clause) -> bool:
    """ "stopped for a while", "quit for two months": whoever says how long has begun again."""
    return "for a while" in " ".join(words(clause.full)) or any(moment.role == "for" for moment in clause.moments)


def _without_emphasis(tokens: Sequence[Token]) -> Sequence[Token]:
    """ "stopped smoking for good", "quit drinking cold turkey" """
    return tokens[:-2] if words(tokens[-2:]) in {("for", "good"), ("cold", "turkey"), ("for", "now")} else tokens


def giving(clause: Clause) -> list[Finding]:
    """ "gave up sugar", "gave up smoking", "gave our cat away" """
    if clause.group.negated or clause.group.tense == "present":
        return []
    if clause.low[:1] == ("birth",):
        return [giving_birth(clause)]
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
    if low[:1] in {("freelance",), ("self-employed",)} and group.tense != "present":
        return [told(clause, "job", "self-employed", sentence(clause.who, "is self-employed"))]
    if low[:1] == ("from",) and "to" in low and group.tense != "present":
        return gone_over(clause)
    if low[:1] == ("off",) and group.tense != "present" and not group.negated:
        return gone_off(clause.after(1))
    if low[:2] == ("back", "to") and group.tense != "present":
        return returning(clause.after(1))
    if low[:2] == ("by", low[1] if len(low) > 1 else "") and group.tense == "present" and len(low) > 1:
        return [found(clause, "nickname", third_person(clause.rest[1:2]), "go by")] if clause.rest[1].named else []
    if (
        low[:1] == ("to",)
        and len(low) > 1
        and group.tense == "present"
        and clause.rest[1].named
        and not SCHOOL_WORDS.isdisjoint(low)
    ):
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
    return [
        item
        for item in with_frame(replace(clause, rest=tokens), Frame("uses", "use", past="holds", one=True))
        if item.value[:1].isupper()
    ]


def being(clause: Clause) -> list[Finding]:
    """ "am", with the few things that stand behind it as if it were another verb."""
    low = clause.low
    if low[:1] == ("no",):
        return being(replace(clause.after(1), group=replace(clause.group, negated=True)))
    if low[:1] == ("back",):
        return returning(clause.after(1))
    if low[:1] == ("to",) and clause.group.tense == "perfect":
        return activity.travelled(clause)
    lasting = clause.lasting and clause.group.tense == "perfect"
    if low[:1] in {("at",), ("with",)} and lasting and len(low) > 1 and clause.rest[1].named:
        return with_frame(clause.after(1), Frame("employer", "work at", one=True))
    if low[:3] == ("an", "only", "child"):
        return [told(clause, "sibling", "siblings", sentence(clause.who, "is an only child"), standing="denied")]
    if low[:2] in {("done", "with"), ("through", "with"), ("finished", "with")} or (
        low[:1] == ("with",) and clause.ended
    ):
        return changes.done_with(clause)
    if low[:2] == ("expecting", "a"):
        return []
    return together.bound(clause) or copula(clause)


def finishing(clause: Clause) -> list[Finding]:
    """ "finished reading Dune", "finished The Brothers Karamazov" """
    if clause.group.negated or clause.group.tense == "present":
        return []
    inner = _inner(clause, clause.rest, ended=True)
    if inner is not None:
        return inner
    events = activity.happened(clause)
    titled = bool(clause.rest) and clause.rest[0].named and not events
    read = activity.media("reads", "read")(clause.with_verb("read", clause.rest, ended=True)) if titled else []
    # a book, a game or a series: the words do not say which, so the text does not either
    return [replace(item, text=sentence(item.who, "finished", item.value)) for item in read] or events


def keeping(clause: Clause) -> list[Finding]:
    if clause.low in {("kosher",), ("halal",)}:
        return [found(clause, "diet", clause.rest[0].text, "keep")]
    return _inner(clause, clause.rest, ended=False) or []


_READERS: dict[str, Reader] = {
    "be": being,
    "have": having_breakfast,
    "get": changes.getting,
    "want": ahead.wanting,
    "hope": ahead.wanting,
    "dream": ahead.wanting,
    "plan": ahead.planning,
    "start": starting,
    "begin": starting,
    "stop": stopping,
    "quit": stopping,
    "give": giving,
    "go": going,
    "return": returning,
    "come": coming_off,
    "wean": coming_off,
    "taper": coming_off,
    "become": becoming,
    "finish": finishing,
    "take": taking_up,
    "consider": considering,
    "identify": identifying,
    "care": caring,
    "run": running,
    "rent": renting,
    "keep": keeping,
    "eat": eating,
    "drink": eating,
    "grow": growing,
    "drop": dropping,
    "sell": selling,
    "rehome": selling,
    "put": putting_down,
    "work": table,
    "retire": retiring,
    "move": changes.moving,
    "relocate": changes.moving,
    "emigrate": changes.moving,
    "switch": switching,
    "swap": switching,
    "replace": switching,
    "migrate": switching,
    "trade": switching,
    "ditch": switching,
    "change": switching,
    "update": switching,
    "transfer": switching,
    "upgrade": switching,
    "abandon": switching,
    "leave": changes.leaving,
    "resign": changes.leaving,
    "join": changes.joining,
    "break": together.splitting,
    "split": together.splitting,
    "separate": together.separating,
    "cancel": changes.quitting,
    "call": changes.calling_off,
    "delete": changes.quitting,
    "uninstall": changes.quitting,
    "cut": changes.quitting,
    "lose": changes.quitting,
    "marry": together.marrying,
    "divorce": together.divorcing,
    "date": together.dating,
    "hand": changes.giving_notice,
    "let": changes.letting_lapse,
    "need": changes.needing,
    "pick": picking_up,
    "try": trying,
    "unsubscribe": unsubscribing,
    "follow": following,
    "write": writing,
    "share": renting,
    "earn": changes.graduating,
    "receive": changes.graduating,
    "adopt": acquired,
    "buy": acquired,
    "purchase": acquired,
    "play": activity.playing,
    "do": activity.doing,
    "study": studying,
    "collect": activity.collecting,
    "teach": teaching,
    "visit": activity.travelled,
    "travel": activity.travelled,
    "fly": activity.travelled,
    "read": activity.media("reads", "read"),
    "watch": activity.media("watches", "watch"),
    "know": activity.knowing,
    "live": living,
    "use": using,
    "weigh": activity.weighing,
    "turn": activity.turning,
    "prefer": framed,
}
