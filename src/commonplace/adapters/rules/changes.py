"""Verbs of change: moving, switching, leaving, joining.

Most of them say two things: what is over and what is so now.
"""

from collections.abc import Callable
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, tail_of, with_frame
from commonplace.adapters.rules.frames import is_condition, is_named, is_place
from commonplace.adapters.rules.having import acquired, things_lost
from commonplace.adapters.rules.lexicon import RELATIONS
from commonplace.adapters.rules.phrases import Phrase, cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.render import a, seen_from_outside, sentence
from commonplace.adapters.rules.switching import TOOL, ended, is_tool, part, settled, switching, until
from commonplace.adapters.rules.together import back_together, parted, wed
from commonplace.adapters.rules.tokens import words
from commonplace.adapters.rules.topics import (
    DEGREES,
    EVENT_NOUNS,
    FOODLIKE,
    GROUPS,
    NATIONALITIES,
    PRODUCTS,
    SPORTS_AND_INSTRUMENTS,
)
from commonplace.adapters.rules.wordsets import word_set

_HOME = Frame(
    "home", "live in", past="holds", one=True, accepts=is_place, through=frozenset({"near", "in", "of", "outside"})
)
_EMPLOYER = Frame("employer", "work at", past="holds", one=True)
_NETWORKS = word_set("twitter facebook instagram tiktok reddit snapchat tinder linkedin youtube uber")
_LEFT = Frame("employer", "work at", past="ended", one=True, accepts=is_named)


def moving(clause: Clause) -> list[Finding]:
    """ "moved from A to B", "moved back to B", "moved out of A" """
    if not settled(clause):
        return []
    low = clause.low
    tools = (part(clause, "from"), part(clause, "to"))
    if all(is_tool(tool) for tool in tools):
        return switching(clause.with_verb("switch", clause.rest, past=True))
    skip = 1 if low[:1] in {("back",), ("away",), ("here",), ("over",), ("out",), ("house",)} else 0
    if low[skip : skip + 1] not in {("to",), ("from",), ("into",), ("of",)}:
        return []
    if low[:1] == ("over",) and not any(is_tool(tool) for tool in tools):
        return []  # a country or a program, and the words do not say which
    target, origin = (
        part(clause, "to") or part(clause, "into"),
        part(clause, "from") or (part(clause, "of") if skip else None),
    )
    frame = TOOL if is_tool(target) or is_tool(origin) else _HOME
    findings = ended(origin, frame) if origin is not None else []
    return findings + (with_frame(target, frame) if target is not None and "here" not in target.low[:1] else [])


def leaving(clause: Clause) -> list[Finding]:
    """ "left Google", "resigned from Accenture", "left my husband", "left the choir" """
    if not settled(clause):
        return []
    rest = clause.after(1) if clause.low[:1] == ("from",) else clause
    low = rest.low
    if low[:2] in {("my", "job"), ("my", "position"), ("my", "role")} and low[2:3] in {("at",), ("with",)}:
        return ended(rest.after(3), _EMPLOYER)
    if low[:2] in {("my", "job"), ("my", "position"), ("my", "company")} or (
        not low and clause.group.lemma == "resign"
    ):
        return [told(clause, "employer", "", sentence(clause.who, "left their job"), standing="ended")]
    if low[:1] == ("my",) and len(low) > 1 and RELATIONS.get(low[1]) == "partner":
        return [parted(clause, rest.rest)]
    tokens = until(rest.rest, {"for", "because"})
    phrase = cleaned(tokens[: until_stop(tokens, through=frozenset({"of"}))])
    if phrase is None:
        return []
    if phrase.head in GROUPS:
        return [found(clause, "member_of", phrase, "be a member of", standing="ended")]
    if not phrase.named or not tokens[0].named or phrase.low[0] == "the":
        return []
    over = replace(rest, rest=tokens, group=replace(rest.group, ended=True))
    # A firm or a town: the words do not say which, so the text does not either.
    gone = [
        replace(item, text=sentence(clause.who, "left", seen_from_outside(item.value)))
        for item in with_frame(over, _LEFT)
    ]
    target = part(rest, "for")
    after = with_frame(target, replace(_EMPLOYER, accepts=is_named)) if target is not None and gone else []
    return gone + [replace(item, follows=True, confidence=0.4) for item in after]


def done_with(clause: Clause) -> list[Finding]:
    """ "done with Twitter", "through with Uber for good", "no longer with Vodafone" """
    if clause.low[0] == "with":
        return _no_longer_with(clause) if len(clause.rest) == 2 and clause.rest[1].named else []
    for_good = clause.low[-2:] == ("for", "good")
    tokens = clause.rest[2 : -2 if for_good else None]
    phrase = cleaned(tokens[: until_stop(tokens)])
    if (
        phrase is None
        or clause.group.negated
        or not (for_good and phrase.named or phrase.low[0] in PRODUCTS | _NETWORKS)
    ):
        return []
    return [told(clause, "uses", phrase.text, sentence(clause.who, "is done with", phrase.text), standing="ended")]


def _no_longer_with(clause: Clause) -> list[Finding]:
    """A firm that one works for or buys from, and nothing where neither is known."""
    name = clause.rest[1].text
    over = told(clause, "uses", name, sentence(clause.who, "is no longer with", name), standing="ended")
    return [replace(over, confidence=0.4)]


def joining(clause: Clause) -> list[Finding]:
    if not settled(clause):
        return []
    phrase = cleaned(clause.rest[: until_stop(clause.rest, through=frozenset({"of"}))])
    if phrase is None or vague(phrase) and phrase.head not in GROUPS:
        return []
    if phrase.head in GROUPS:
        return [found(clause, "member_of", phrase, "be a member of")]
    if not phrase.named or phrase.low[0] in PRODUCTS:
        return []
    job = part(clause, "as")
    findings = [found(clause, "employer", phrase, "work at")]
    return findings + (with_frame(job, Frame("job", "work as", past="holds")) if job is not None else [])


def quitting(clause: Clause) -> list[Finding]:
    """ "quit my job", "quit Twitter", "cancelled Netflix", "deleted my Facebook account": what is given up, without
    a verb inside."""
    if not settled(clause) and clause.group.lemma != "quit" or clause.group.negated:
        return []
    low = clause.low
    if clause.group.lemma in {"quit", "lose"} and low[:2] in {("my", "job"), ("my", "work"), ("the", "job")}:
        if low[2:3] in {("at",), ("with",)}:
            return ended(clause.after(3), _EMPLOYER)
        return [told(clause, "employer", "", sentence(clause.who, "left their job"), standing="ended")]
    if low[:1] == ("out",):
        clause = clause.after(1)
    off = clause.group.lemma == "cancel"
    tokens = clause.rest[: until_stop(clause.rest, through=_OF_A_PLAN if off else frozenset({"of"}))]
    tokens = tokens if not {"and", "or", "&"}.isdisjoint(words(tokens)) else until(tokens, {","})
    phrases = coordinated(tokens) if clause.group.lemma != "lose" else []
    return [
        item
        for phrase in phrases
        for item in ([_called_off(clause, phrase)] if off and phrase.head in EVENT_NOUNS else _given_up(clause, phrase))
    ]


_OF_A_PLAN = frozenset({"of", "to", "in", "with"})


def _called_off(clause: Clause, phrase: Phrase) -> Finding:
    """ "my trip to Japan" """
    text = sentence(clause.who, "cancelled", seen_from_outside(phrase.whole))
    return told(clause, "plans", phrase.text, text, standing="ended")


def calling_off(clause: Clause) -> list[Finding]:
    """ "called off the wedding", "called the trip off" """
    rest = [token for token in clause.rest if token.low != "off"]
    phrase = (
        cleaned(rest[: until_stop(rest, through=frozenset({"to", "of"}))]) if len(rest) < len(clause.rest) else None
    )
    if phrase is None or not settled(clause) or EVENT_NOUNS.isdisjoint(phrase.low):
        return []
    text = sentence(clause.who, "called off", seen_from_outside(phrase.whole))
    return [replace(told(clause, "plans", phrase.text, text, standing="ended"), confidence=0.4)]


def needing(clause: Clause) -> list[Finding]:
    """ "don't need Magnet anymore": it is no longer used. What one does need is asked for, not told."""
    if not clause.ended:
        return []
    phrases = coordinated(clause.rest[: until_stop(clause.rest)])
    return [
        told(clause, "uses", one.text, sentence(clause.who, "no longer needs", one.whole), standing="ended")
        for one in phrases
        if one.named and not one.definite and not vague(one)
    ]


def letting_lapse(clause: Clause) -> list[Finding]:
    """ "let my Netflix subscription lapse" """
    if not settled(clause) or clause.low[:1] != ("my",) or clause.low[-1] not in {"lapse", "expire", "go"}:
        return []
    phrase = cleaned(clause.rest[:-1])
    return _given_up(clause, phrase) if phrase is not None and phrase.low[-1] in {"subscription", "membership"} else []


def _given_up(clause: Clause, phrase: Phrase) -> list[Finding]:
    words_ = [
        word for word in phrase.text.split(" ") if word.lower() not in {"subscription", "account", "membership", "app"}
    ]
    value = " ".join(words_)
    if not (_OF_A_PLAN - {"of"}).isdisjoint(phrase.low):
        return []
    if phrase.low[-1] == "membership" and value:
        text = sentence(clause.who, "gave up", seen_from_outside(phrase.whole))
        return [told(clause, "member_of", value, text, standing="ended")]
    if phrase.head in GROUPS:
        return [found(clause, "member_of", phrase, "be a member of", standing="ended")]
    if phrase.low[-1] in SPORTS_AND_INSTRUMENTS:
        return [found(clause, "hobby", phrase, "do", standing="ended")]
    if clause.group.lemma in {"quit", "give"} and " ".join(phrase.low) in NATIONALITIES:
        return [found(clause, "learns", phrase, "learn", standing="ended")]
    if clause.group.lemma in {"quit", "give", "cut"} and (
        phrase.low[-1] in FOODLIKE or (not phrase.named and not phrase.definite and clause.group.lemma != "quit")
    ):
        return [found(clause, "consumes", phrase, "consume", standing="ended")] if not vague(phrase) else []
    named = bool(value) and (phrase.named or value.lower() in PRODUCTS) and phrase.definite != "the"
    over = found(clause, "uses", value, "use", standing="ended")
    if named or clause.group.lemma != "quit" or phrase.definite or vague(phrase) or value.endswith("ed"):
        return [over] if named else []
    return [replace(over, confidence=0.4, text=sentence(clause.who, "quit", value))]


def getting(clause: Clause) -> list[Finding]:
    """ "got married", "got promoted to", "got laid off", "got a job at", "got rid of", "got a puppy" """
    if clause.group.tense == "present" and not clause.group.progressive:
        return [
            found(clause, "condition", phrase, "get") for phrase in coordinated(clause.rest) if is_condition(phrase)
        ]
    if clause.group.negated or clause.group.progressive:
        return []
    low = clause.low
    if low[:1] == ("home",):
        return []
    for lead, reader in _GOT:
        if low[: len(lead)] == lead:
            return reader(clause.after(len(lead)))
    if not DEGREES.isdisjoint(low[:4]):
        return graduating(clause)
    if "job" in low[:4] and ("at" in low or "with" in low):
        target = part(clause, "at") or part(clause, "with")
        return with_frame(target, _EMPLOYER) if target is not None else []
    return acquired(clause)


def graduating(clause: Clause) -> list[Finding]:
    """ "got my master's degree from Oxford" """
    tokens = until(clause.rest, {"from", "at", ","})
    phrase = cleaned(tokens)
    if phrase is None or clause.group.tense == "present" or clause.group.negated or DEGREES.isdisjoint(phrase.low):
        return []
    return [found(clause, "education", phrase.text, "has", tail=tail_of(clause.rest[len(tokens) :]), when="none")]


def _promoted(clause: Clause) -> list[Finding]:
    posts = with_frame(clause, Frame("job", "be", past="holds", through=frozenset({"of"})))
    plain = [item for item in posts if not item.value.islower()]
    return plain + [
        replace(item, text=sentence(clause.who, "is", a(item.value))) for item in posts if item.value.islower()
    ]


def _dismissed(clause: Clause) -> list[Finding]:
    if clause.low[:1] in {("from",), ("by",)}:
        return with_frame(
            replace(clause.after(1), group=replace(clause.group, ended=True)),
            Frame("employer", "work for", past="ended", one=True),
        )
    return [told(clause, "employer", "", sentence(clause.who, "lost their job"), standing="ended")]


def _rid(clause: Clause) -> list[Finding]:
    tokens = clause.rest[: until_stop(clause.rest)]
    tools = [phrase for phrase in coordinated(tokens) if phrase.named and not phrase.definite]
    return things_lost(clause, "got rid of") + [
        told(clause, "uses", tool.text, sentence(clause.who, "got rid of", tool.whole), standing="ended")
        for tool in tools
    ]


def _hired(clause: Clause) -> list[Finding]:
    return with_frame(clause, _EMPLOYER)


def _diagnosed(clause: Clause) -> list[Finding]:
    return with_frame(clause, Frame("condition", "have", past="holds"))


_Reader = Callable[[Clause], list[Finding]]
_GOT: tuple[tuple[tuple[str, ...], _Reader], ...] = (
    (("married",), wed("married")),
    (("engaged",), wed("engaged")),
    (("divorced",), wed("divorced")),
    (("promoted", "to"), _promoted),
    (("laid", "off"), _dismissed),
    (("fired",), _dismissed),
    (("sacked",), _dismissed),
    (("rid", "of"), _rid),
    (("hired", "by"), _hired),
    (("hired", "at"), _hired),
    (("diagnosed", "with"), _diagnosed),
    (("back", "together", "with"), back_together),
)


def giving_notice(clause: Clause) -> list[Finding]:
    """ "handed in my notice at Deloitte" """
    low = clause.low
    if low[:3] not in {("in", "my", "notice"), ("in", "my", "resignation")}:
        return []
    target = part(clause, "at") or part(clause, "to")
    return (
        ended(target, _EMPLOYER)
        if target is not None
        else [told(clause, "employer", "", sentence(clause.who, "left their job"), standing="ended")]
    )
