"""English: from a message to findings, sentence by sentence and clause by clause."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.adapters.rules.clause import Beside, Clause, Finding, told, validity
from commonplace.adapters.rules.clauses import Chunk, chunks, verb_phrases
from commonplace.adapters.rules.elided import carried_on, completed, may_be_dropped, straightened, turned
from commonplace.adapters.rules.group import Group, verb_group
from commonplace.adapters.rules.guards import judge, opening, plants_instructions
from commonplace.adapters.rules.language import Reading, Statement
from commonplace.adapters.rules.lexicon import ADVERBS, HEDGES
from commonplace.adapters.rules.moments import Moment, moments
from commonplace.adapters.rules.naming import named_later
from commonplace.adapters.rules.nominal import nominal
from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.possessive import favourite_of, possessed
from commonplace.adapters.rules.predicates import read as read_predicate
from commonplace.adapters.rules.relations import Relation, introduced, name_end, relation
from commonplace.adapters.rules.render import USER, a
from commonplace.adapters.rules.sentences import Sentence, sentences
from commonplace.adapters.rules.special import bare, special
from commonplace.adapters.rules.subject import Subject, subject, verb_of_change
from commonplace.adapters.rules.tokens import Token, surface, tokenise

_CUE = Pattern(
    r"\b(?:i|i'm|im|ive|i've|my|we|our|me|we're|we've|born|name's|died|passed away|cancell?ed|called off|is off"
    r"|fell through)\b",
    re.IGNORECASE,
)
_CORRECTING = Pattern(
    r"\s*(?:(?:oh|well|ok|wait|hm+|ah)[, ]+)?(?:no|nope|sorry|actually|correction|oops|i meant?|my mistake"
    r"|wait)\b[,:. ]"
)
_MARKS = {"anymore": "anymore", "again": "again", "anylonger": "anymore"}


class English:
    """Reads English."""

    code = "en"

    def concerns(self, text: str) -> bool:
        return _CUE.search(text) is not None or may_be_dropped(text)

    def read(self, text: str, at: datetime) -> Reading:
        """Return the statements of a message that was cleaned by `own_words`."""
        low = _lower(text)
        if plants_instructions(low):
            return Reading((), planted=True)
        found_: list[Statement] = []
        dropped = may_be_dropped(text)
        for sentence in sentences(text):
            part = low[sentence.start : sentence.stop]
            verdict = judge(part, sentence.tail)
            if verdict == "skip rest":
                break
            if verdict != "skip" and (dropped or _CUE.search(part)):
                order = verdict == "skip order"
                found_.extend(_sentence(text, low, sentence, at, ordered=order, dropped=dropped and not order))
        return Reading(tuple(named_later(found_, text)))


def _lower(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


def _sentence(
    text: str, low: str, sentence: Sentence, at: datetime, *, ordered: bool, dropped: bool
) -> Iterator[Statement]:
    lead = opening(low[sentence.start : sentence.stop])
    begin = sentence.start + lead.stop
    corrects = _CORRECTING.match(low, begin, sentence.stop) is not None
    apart = special(
        text, low, begin, sentence.stop, at, clauses=lambda own: _clauses(low, own, at, asks=False, ordered=False)
    )
    tokens = straightened(tokenise(text, begin, sentence.stop))
    tokens = completed(tokens) if dropped and not sentence.asks else tokens
    for finding, clause in apart or _clauses(low, tokens, at, asks=sentence.asks, ordered=ordered):
        begin_at, end_at = validity(finding, clause)
        yield Statement(
            finding=replace(finding, importance=lead.weight, confidence=0.6 if lead.hedged else finding.confidence),
            valid_from=begin_at,
            valid_to=end_at,
            corrects=corrects,
            contrasted=_contrasted(clause),
        )


def _contrasted(clause: Clause) -> bool:
    """ "José, not Jorge" """
    low = [token.low for token in clause.full]
    return "not" in low and low[low.index("not") - 1 :][:1] == [","]


def _clauses(
    low: str, tokens: Sequence[Token], at: datetime, *, asks: bool, ordered: bool
) -> list[tuple[Finding, Clause]]:
    parts = chunks(tokens)
    if asks:
        if len(parts) < 2 or not parts[-1].asks:
            return []
        parts = parts[:-1]
    if not parts or parts[0].asks and not parts[0].link:
        return []
    found_: list[tuple[Finding, Clause]] = []
    for place, part in enumerate(parts):
        part = carried_on(part, parts[place - 1] if place else None)
        if part.stated and not part.asks and not (ordered and place == 0):
            found_.extend(_chunk(low, part, at))
    return found_


def _chunk(low: str, chunk: Chunk, at: datetime) -> list[tuple[Finding, Clause]]:
    tokens = turned(chunk.tokens)
    times = moments(low, tokens)
    inverse = _favourite(tokens, at, times)
    if inverse:
        return inverse
    about = subject(tokens, times)
    if about is None or any(token.low in HEDGES for token in about.lead):
        return []
    if about.kin is not None and about.kin.noun.startswith("late "):
        return []  # what the dead were is not so, and was not given up
    found_ = _lead_job(about, at, times)
    found_.extend(_mentioned(about, tokens, at))
    if about.kin is not None:
        found_.extend(_introduced(about.kin, tokens, at))
    if about.who is None:
        return found_ + _possession(about, tokens, times, at)
    for phrase in verb_phrases(tokens[about.at :], third=not about.who.is_user and not about.who.plural):
        clause = _clause(about, phrase, times, at, start=tokens[0].start)
        if clause is not None:
            found_.extend((finding, clause) for finding in _said(clause, about))
    return _without_the_lost(found_)


def _without_the_lost(found_: list[tuple[Finding, Clause]]) -> list[tuple[Finding, Clause]]:
    """ "I broke up with my girlfriend Ana" names her, and does not say that she is one."""
    lost = {(one.attribute, one.value) for one, _ in found_ if one.standing == "ended"}
    return [pair for pair in found_ if pair[0].standing == "ended" or (pair[0].attribute, pair[0].value) not in lost]


def _said(clause: Clause, about: Subject) -> list[Finding]:
    kin = about.kin
    if kin is not None and not (about.who is not None and about.who.is_user):
        low = clause.low
        if (
            clause.group.lemma == "die"
            and clause.group.tense != "present"
            or (clause.group.lemma == "pass" and low[:1] == ("away",))
        ):
            value = kin.names[0] if kin.names else kin.noun
            return [replace(told(clause, kin.attribute, value, f"{clause.who.shown} died", standing="ended"), who=USER)]
        if (
            clause.group.lemma in {"named", "called"}
            and clause.group.passive
            or (clause.group.lemma == "be" and low[:1] == ("called",))
        ):
            return _names_of(clause, kin)
        if kin.attribute == "pet":
            return [
                replace(item, attribute="trait") if item.attribute == "job" else item for item in read_predicate(clause)
            ]
    return read_predicate(clause)


def _names_of(clause: Clause, kin: Relation) -> list[Finding]:
    """ "my wife is called Anna" """
    tokens = clause.rest
    end = name_end(tokens, 0, loose=True)
    return _relation(clause, replace(kin, names=(surface(tokens[:end]),))) if end else []


def _relation(clause: Clause, kin: Relation) -> list[Finding]:
    return [
        replace(
            told(
                clause,
                kin.attribute,
                name,
                f"User has {a(introduced(kin.noun, name, bare=kin.bare))}",
                standing="holds",
                when="none",
            ),
            who=USER,
        )
        for name in kin.names
    ]


def _introduced(kin: Relation, tokens: Sequence[Token], at: datetime) -> list[tuple[Finding, Clause]]:
    """A name given in passing: "my daughter Mia started school"; or as "my son's name is Theo"."""
    clause = bare(tokens[0].start, tokens[-1].stop, at)
    low = [token.low for token in tokens]
    if (
        not kin.names
        and "'s" in low
        and low[low.index("'s") + 1 : low.index("'s") + 3] in (["name", "is"], ["name", "'s"])
    ):
        begin = low.index("'s") + 3
        end = name_end(tokens, begin, loose=True)
        kin = replace(kin, names=(surface(tokens[begin:end]),)) if end > begin else kin
    _gone = any(token.low in {"died", "dead", "away"} for token in tokens) or "moved out" in " ".join(low)
    return [] if _gone else [(finding, clause) for finding in _relation(clause, kin)]


def _mentioned(about: Subject, tokens: Sequence[Token], at: datetime) -> list[tuple[Finding, Clause]]:
    """People named in passing behind the verb: "I live with my girlfriend Paula"."""
    clause = bare(tokens[0].start, tokens[-1].stop, at)
    named: list[tuple[Finding, Clause]] = []
    for place in range(about.at, len(tokens) - 2):
        if (
            tokens[place].low in {"my", "our"}
            and tokens[place - 1].low != "and"
            and (kin := relation(tokens[place + 1 :])) is not None
        ):
            named.extend(
                (finding, clause)
                for finding in _relation(clause, kin)
                if tokens[place + 1 + kin.after - 1].low not in {"'s"}
            )
    return named


def _lead_job(about: Subject, at: datetime, times: Sequence[Moment]) -> list[tuple[Finding, Clause]]:
    """ "As a paralegal, I …" """
    lead = [token for token in about.lead if token.low != ","]
    if (
        about.who is not USER
        or len(lead) < 3
        or lead[0].low != "as"
        or lead[1].low not in {"a", "an"}
        or lead[2].low in {"kid", "child", "result"}
    ):
        return []
    clause = Clause(USER, Group("be", "present", 0), lead[1:], lead[1:], times, at, lead[0].start, lead[-1].stop)
    return [(finding, clause) for finding in nominal(clause, lead[1:]) if finding.attribute in {"job", "diet", "trait"}]


def _favourite(tokens: Sequence[Token], at: datetime, times: Sequence[Moment]) -> list[tuple[Finding, Clause]]:
    low = [token.low for token in tokens]
    for place in range(1, len(low) - 3):
        if low[place] in {"is", "are"} and low[place + 1] == "my" and low[place + 2] in {"favourite", "favorite"}:
            clause = Clause(
                USER, Group("be", "present", 0), tokens, tokens, times, at, tokens[0].start, tokens[-1].stop
            )
            return [(finding, clause) for finding in favourite_of(clause, tokens[:place], tokens[place + 3 :])]
    return []


def _possession(
    about: Subject, tokens: Sequence[Token], times: Sequence[Moment], at: datetime
) -> list[tuple[Finding, Clause]]:
    words = verb_phrases(tokens[about.at :], third=True)[0]
    begin = verb_of_change(words) or 1
    while begin < len(words) and (words[begin].low in ADVERBS or words[begin].low == "not"):
        begin += 1
    over = [token.low for token in words[begin : begin + 2]] == ["no", "longer"]
    group = Group(
        "be",
        "past" if words[0].low in {"was", "were"} else "present",
        begin + 2 * over,
        negated=words[begin - 1].low in {"not", "never"},
        ended=over or words[0].low == "used",
    )
    begin = group.rest
    rest, marks = _without_marks([token for token in words[begin:] if not _inside(token, times)])
    who = about.kin.who() if about.kin is not None else USER
    clause = Clause(who, group, rest, words[begin:], times, at, tokens[0].start, words[-1].stop, marks)
    return [
        (finding, clause)
        for finding in possessed(clause, about.noun)
        if about.kin is None or finding.attribute != "name"
    ]


def _clause(
    about: Subject, tokens: Sequence[Token], times: Sequence[Moment], at: datetime, *, start: int
) -> Clause | None:
    """Put a clause together from the tokens behind its subject."""
    group = verb_group(
        [token for token in tokens if not _inside(token, times)] if times and _early(tokens, times) else tokens
    )
    if group is None or about.who is None or not tokens:
        return None
    full = tokens[group.rest :]
    rest, marks = _without_marks([token for token in full if not _inside(token, times)])
    comma = next(
        (
            place
            for place, token in enumerate(tokens[:-1])
            if token.low == "," and not _inside(tokens[place + 1], times)
        ),
        None,
    )
    last = tokens[comma].start if comma is not None else tokens[-1].stop
    lead = about.lead[-1].stop if about.lead else 0
    mine = [moment for moment in times if moment.stop <= lead or tokens[0].start <= moment.start <= last]
    return Clause(about.who, group, rest, full, mine, at, start, tokens[-1].stop, marks, _beside(about))


def _beside(about: Subject) -> Beside:
    if about.kin is None or about.who is not USER:
        return Beside(about.beside)
    return Beside(about.kin.names[0] if about.kin.names else "", about.kin.attribute)


def _inside(token: Token, times: Sequence[Moment]) -> bool:
    return any(moment.start <= token.start < moment.stop for moment in times)


def _early(tokens: Sequence[Token], times: Sequence[Moment]) -> bool:
    return bool(tokens) and _inside(tokens[0], times)


def _without_marks(tokens: Sequence[Token]) -> tuple[list[Token], frozenset[str]]:
    kept: list[Token] = []
    marks: set[str] = set()
    for place, token in enumerate(tokens):
        following = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if token.low in _MARKS:
            marks.add(_MARKS[token.low])
        elif token.low == "any" and following in {"more", "longer"}:
            marks.add("anymore")
        elif not (token.low in {"more", "longer"} and place and tokens[place - 1].low == "any"):
            kept.append(token)
    return (kept, frozenset(marks))
