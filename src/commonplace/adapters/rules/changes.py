"""Verbs of change: moving, switching, leaving, joining.

Most of them say two things: what is over and what is so now.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, tail_of, with_frame
from commonplace.adapters.rules.frames import is_condition, is_named, is_place
from commonplace.adapters.rules.having import acquired, things_lost
from commonplace.adapters.rules.lexicon import RELATIONS
from commonplace.adapters.rules.phrases import Phrase, cleaned, coordinated, until_stop, vague
from commonplace.adapters.rules.possessive import possessed
from commonplace.adapters.rules.render import seen_from_outside, sentence
from commonplace.adapters.rules.together import back_together, parted, wed
from commonplace.adapters.rules.tokens import Token, surface
from commonplace.adapters.rules.topics import DEGREES, EVENT_NOUNS, FOODLIKE, GROUPS, PRODUCTS, SPORTS_AND_INSTRUMENTS
from commonplace.adapters.rules.wordsets import word_set

_HOME = Frame(
    "home", "live in", past="holds", one=True, accepts=is_place, through=frozenset({"near", "in", "of", "outside"})
)
_TOOL = Frame("uses", "use", past="holds", one=True)
_EMPLOYER = Frame("employer", "work at", past="holds", one=True)
_NETWORKS = word_set("twitter facebook instagram tiktok reddit snapchat tinder linkedin youtube uber")
_LEFT = Frame("employer", "work at", past="ended", one=True, accepts=is_named)


def _part(clause: Clause, word: str) -> Clause | None:
    """The clause from behind a preposition on."""
    if word not in clause.low:
        return None
    return clause.after(clause.low.index(word) + 1)


def _settled(clause: Clause) -> bool:
    group = clause.group
    return (
        not group.negated
        and group.factual
        and not group.progressive
        and (group.tense != "present" or group.lemma in {"quit", "cut", "let"})
    )


def _ended(clause: Clause, frame: Frame) -> list[Finding]:
    over = replace(
        clause,
        group=replace(clause.group, ended=True),
        rest=_until(clause.rest, {"to", "for", "and", "in", "into", "because"}),
    )
    return with_frame(over, replace(frame, past="ended"))


def _until(tokens: Sequence[Token], stops: set[str]) -> Sequence[Token]:
    end = next((place for place, token in enumerate(tokens) if token.low in stops), len(tokens))
    return tokens[:end]


def moving(clause: Clause) -> list[Finding]:
    """ "moved from A to B", "moved back to B", "moved out of A" """
    if not _settled(clause):
        return []
    low = clause.low
    tools = (_part(clause, "from"), _part(clause, "to"))
    if all(_is_tool(part) for part in tools):
        return switching(clause.with_verb("switch", clause.rest, past=True))
    skip = 1 if low[:1] in {("back",), ("away",), ("here",), ("over",), ("out",), ("house",)} else 0
    if low[skip : skip + 1] not in {("to",), ("from",), ("into",), ("of",)}:
        return []
    if low[:1] == ("over",) and not any(_is_tool(part) for part in tools):
        return []  # a country or a program, and the words do not say which
    target, origin = (
        _part(clause, "to") or _part(clause, "into"),
        _part(clause, "from") or (_part(clause, "of") if skip else None),
    )
    frame = _TOOL if _is_tool(target) or _is_tool(origin) else _HOME
    findings = _ended(origin, frame) if origin is not None else []
    return findings + (with_frame(target, frame) if target is not None and "here" not in target.low[:1] else [])


def _is_tool(clause: Clause | None) -> bool:
    return clause is not None and bool(clause.rest) and clause.rest[0].low in PRODUCTS


def switching(clause: Clause) -> list[Finding]:
    """ "switched from A to B", "replaced A with B", "ditched A for B" """
    if not _settled(clause) or clause.low[:1] in {("jobs",), ("careers",), ("majors",), ("schools",), ("sides",)}:
        return []
    lemma = clause.group.lemma
    if lemma in {"change", "update"} and clause.low[:1] == ("my",):
        return _changed(clause)
    if lemma in {"switch", "migrate", "change", "upgrade", "convert", "transition"}:
        origin, target = _part(clause, "from"), _part(clause, "to")
    else:
        origin, target = clause, _part(clause, "with") or _part(clause, "for")
    if origin is clause and target is None and lemma not in {"ditch", "drop", "abandon"}:
        return []
    frame = _TOOL if lemma != "trade" else Frame("owns", "own", past="holds", one=True)
    findings = _replaced(clause, origin, frame) if origin is not None else []
    return findings + (
        [
            item
            for item in with_frame(target, frame)
            if not item.value[:2].islower() or item.value.lower() in PRODUCTS or origin is not None
        ]
        if target is not None
        else []
    )


def _changed(clause: Clause) -> list[Finding]:
    """ "changed my name to Robin": what is theirs is so now."""
    if "to" not in clause.low[2:]:
        return []
    at = clause.low.index("to")
    noun = _until(clause.rest[1:at], {"from"})
    is_so = clause.with_verb("be", clause.rest[at + 1 :])
    return [replace(item, when="began") for item in possessed(replace(is_so, full=is_so.rest), noun)]


def _replaced(clause: Clause, origin: Clause, frame: Frame) -> list[Finding]:
    tokens = origin.rest[1:] if origin.low[:1] in {("in",), ("out",)} else origin.rest
    tokens = _until(tokens, {"to", "for", "with"})
    findings = _ended(replace(origin, rest=tokens), frame)
    if clause.group.lemma in {"drop", "abandon", "change"} and not all(item.value[:1].isupper() for item in findings):
        return []
    return findings


def leaving(clause: Clause) -> list[Finding]:
    """ "left Google", "resigned from Accenture", "left my husband", "left the choir" """
    if not _settled(clause):
        return []
    rest = clause.after(1) if clause.low[:1] == ("from",) else clause
    low = rest.low
    if low[:2] in {("my", "job"), ("my", "position"), ("my", "role")} and low[2:3] in {("at",), ("with",)}:
        return _ended(rest.after(3), _EMPLOYER)
    if low[:2] in {("my", "job"), ("my", "position"), ("my", "company")} or (
        not low and clause.group.lemma == "resign"
    ):
        return [told(clause, "employer", "", sentence(clause.who, "left their job"), standing="ended")]
    if low[:1] == ("my",) and len(low) > 1 and RELATIONS.get(low[1]) == "partner":
        return [parted(clause, rest.rest)]
    tokens = _until(rest.rest, {"for", "because"})
    phrase = cleaned(tokens[: until_stop(tokens, through=frozenset({"of"}))])
    if phrase is None:
        return []
    if phrase.head in GROUPS:
        return [found(clause, "member_of", phrase, "be a member of", standing="ended")]
    if not phrase.named or not tokens[0].named or phrase.low[0] == "the":
        return []
    over = replace(rest, rest=tokens, group=replace(rest.group, ended=True))
    # A firm or a town: the words do not say which, so the text does not either.
    return [
        replace(item, text=sentence(clause.who, "left", seen_from_outside(item.value)))
        for item in with_frame(over, _LEFT)
    ]


def done_with(clause: Clause) -> list[Finding]:
    """ "done with Twitter", "through with Uber for good" """
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


def joining(clause: Clause) -> list[Finding]:
    if not _settled(clause):
        return []
    phrase = cleaned(clause.rest[: until_stop(clause.rest, through=frozenset({"of"}))])
    if phrase is None or vague(phrase) and phrase.head not in GROUPS:
        return []
    if phrase.head in GROUPS:
        return [found(clause, "member_of", phrase, "be a member of")]
    if not phrase.named or phrase.low[0] in PRODUCTS:
        return []
    job = _part(clause, "as")
    findings = [found(clause, "employer", phrase, "work at")]
    return findings + (with_frame(job, Frame("job", "work as", past="holds")) if job is not None else [])


def quitting(clause: Clause) -> list[Finding]:
    """ "quit my job", "quit Twitter", "cancelled Netflix", "deleted my Facebook account": what is given up, without
    a verb inside."""
    if not _settled(clause) and clause.group.lemma != "quit" or clause.group.negated:
        return []
    low = clause.low
    if clause.group.lemma in {"quit", "lose"} and low[:2] in {("my", "job"), ("my", "work"), ("the", "job")}:
        if low[2:3] in {("at",), ("with",)}:
            return _ended(clause.after(3), _EMPLOYER)
        return [told(clause, "employer", "", sentence(clause.who, "left their job"), standing="ended")]
    if low[:1] == ("out",):
        clause = clause.after(1)
    phrase = cleaned(clause.rest[: until_stop(clause.rest, through=frozenset({"of"}))])
    if phrase is None or clause.group.lemma == "lose":
        return []
    if clause.group.lemma == "cancel" and phrase.head in EVENT_NOUNS:
        return [_called_off(clause)]
    return _given_up(clause, phrase)


def _called_off(clause: Clause) -> Finding:
    """ "my trip to Japan" """
    tokens = clause.rest[: until_stop(clause.rest, through=frozenset({"of", "to", "in", "with"}))]
    value = tokens[1:] if tokens[0].low in {"my", "our", "the", "a", "an"} else tokens
    text = sentence(clause.who, "cancelled", seen_from_outside(surface(tokens)))
    return told(clause, "plans", surface(value), text, standing="ended")


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
    if not _settled(clause) or clause.low[:1] != ("my",) or clause.low[-1] not in {"lapse", "expire", "go"}:
        return []
    phrase = cleaned(clause.rest[:-1])
    return _given_up(clause, phrase) if phrase is not None and phrase.low[-1] in {"subscription", "membership"} else []


def _given_up(clause: Clause, phrase: Phrase) -> list[Finding]:
    words_ = [
        word for word in phrase.text.split(" ") if word.lower() not in {"subscription", "account", "membership", "app"}
    ]
    value = " ".join(words_)
    if phrase.head in GROUPS or (phrase.low[-1] == "membership" and value):
        return [found(clause, "member_of", value, "be a member of", tail="", standing="ended")]
    if phrase.low[-1] in SPORTS_AND_INSTRUMENTS:
        return [found(clause, "hobby", phrase, "do", standing="ended")]
    if clause.group.lemma in {"quit", "give", "cut"} and (
        phrase.low[-1] in FOODLIKE or (not phrase.named and not phrase.definite and clause.group.lemma != "quit")
    ):
        return [found(clause, "consumes", phrase, "consume", standing="ended")] if not vague(phrase) else []
    named = bool(value) and (phrase.named or value.lower() in PRODUCTS) and phrase.definite != "the"
    return [found(clause, "uses", value, "use", standing="ended")] if named else []


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
        target = _part(clause, "at") or _part(clause, "with")
        return with_frame(target, _EMPLOYER) if target is not None else []
    return acquired(clause)


def graduating(clause: Clause) -> list[Finding]:
    """ "got my master's degree from Oxford" """
    tokens = _until(clause.rest, {"from", "at", ","})
    phrase = cleaned(tokens)
    if phrase is None or clause.group.tense == "present" or clause.group.negated or DEGREES.isdisjoint(phrase.low):
        return []
    return [found(clause, "education", phrase.text, "has", tail=tail_of(clause.rest[len(tokens) :]), when="none")]


def _promoted(clause: Clause) -> list[Finding]:
    return with_frame(clause, Frame("job", "be", past="holds", through=frozenset({"of"})))


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
    target = _part(clause, "at") or _part(clause, "to")
    return (
        _ended(target, _EMPLOYER)
        if target is not None
        else [told(clause, "employer", "", sentence(clause.who, "left their job"), standing="ended")]
    )
