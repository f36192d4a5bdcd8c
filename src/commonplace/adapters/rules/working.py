"""Work and study: "work in finance", "work as a nurse at …", "study law at …", "teach piano"."""

from dataclasses import replace

from commonplace.adapters.rules.clause import Clause, Finding, found, told
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.frames import framed
from commonplace.adapters.rules.habits import habit
from commonplace.adapters.rules.having import CHILDREN
from commonplace.adapters.rules.phrases import cleaned, until_stop, vague
from commonplace.adapters.rules.render import sentence
from commonplace.adapters.rules.topics import SCHOOL_WORDS
from commonplace.adapters.rules.wordsets import word_set

_STUDY = Frame("studies", "study", past="ended")
_SCHOOL = Frame("school", "study at", past="ended", one=True)
_FIELD = Frame("field", "work in", past="ended", one=True)
_WORKPLACE = Frame("workplace", "work in", past="ended", one=True)


def _degree(clause: Clause) -> list[Finding]:
    """ "doing a PhD in linguistics at Leiden" """
    if "in" not in clause.low:
        return []
    return studying(clause.after(clause.low.index("in") + 1))


def studying(clause: Clause) -> list[Finding]:
    if clause.low[:1] in {("for",), ("with",), ("the",), ("hard",)}:
        return []
    findings = with_frame(clause, _STUDY) if clause.low[:1] != ("at",) else []
    if "at" in clause.low:
        findings += with_frame(clause.after(clause.low.index("at") + 1), _SCHOOL)
    return findings


def working(clause: Clause) -> list[Finding] | None:
    """ "work in finance", "work in Berlin"; None leaves it to the table."""
    low = clause.low
    if low[:1] in _HOW and low[1:2] in {("for",), ("at",), ("as",)}:
        inner = clause.after(1)
        return working(inner) or framed(inner)
    if low[:2] in {("from", "home"), ("night", "shifts")} or low[:1] in _HOW | {("nights",), ("weekends",)}:
        return [habit(clause)] if clause.group.tense != "past" or clause.often or clause.ended else []
    if low[:1] == ("there",) and clause.ended:
        return [told(clause, "employer", "", sentence(clause.who, "left their job"))]
    if low[:2] == ("for", "myself"):
        return [found(clause, "job", "self-employed", "be")]
    if low[:1] == ("as",):
        return _working_as(clause)
    return _working_in(clause) if low[:1] == ("in",) and len(low) > 1 else None


_HOW = {("remotely",), ("part-time",), ("full-time",), ("freelance",)}


def _working_in(clause: Clause) -> list[Finding]:
    place = clause.rest[1]
    if place.text.isupper():
        return [found(clause, "field", place.text, "work in")]
    if place.low in {"a", "an", "the", "my"}:
        return _working_in_a(clause)
    return with_frame(clause.after(1), _WORKPLACE if place.named else _FIELD)


def _working_in_a(clause: Clause) -> list[Finding]:
    """ "in the film industry", "in a hospital" """
    phrase = cleaned(clause.rest[1 : 1 + until_stop(clause.rest[1:])])
    if phrase is None or phrase.definite == "my":
        return []
    if phrase.low[-1] in {"industry", "sector", "business", "field"} and len(phrase.low) > 1:
        return [found(clause, "field", phrase, "work in")]
    return (
        [found(clause, "employer", phrase, "work in")]
        if phrase.low[-1] in _WORKPLACES and phrase.definite != "the"
        else []
    )


_WORKPLACES = word_set(
    "hospital bank school library restaurant factory warehouse lab laboratory office cafe café bakery shop store"
    " clinic pharmacy museum hotel bar"
)


def _working_as(clause: Clause) -> list[Finding]:
    low = clause.low
    end = next((place for place, word in enumerate(low) if place and word in {"at", "for", "in", "with"}), len(low))
    findings = with_frame(replace(clause, rest=clause.rest[1:end]), Frame("job", "work as", past="ended"))
    if end < len(low) and low[end] in {"at", "for"}:
        findings += with_frame(clause.after(end + 1), Frame("employer", f"work {low[end]}", past="ended", one=True))
    return findings


def teaching(clause: Clause) -> list[Finding]:
    phrase = cleaned(clause.rest[: until_stop(clause.rest)])
    if (
        phrase is None
        or vague(phrase)
        or phrase.low[0] in {"my", "me", "people"}
        or phrase.definite
        or clause.group.tense == "perfect"
        and not clause.lasting
    ):
        return []
    over = clause.group.tense == "past"
    return [
        told(
            clause,
            "job",
            f"teach {phrase.text}",
            found(clause, "job", phrase.text, "teach", standing="ended" if over else None).text,
            standing="ended" if over else None,
        )
    ]


def started_at(clause: Clause) -> list[Finding]:
    """A firm, or a school by its name; of a child nobody knows which."""
    if not SCHOOL_WORDS.isdisjoint(clause.low):
        return with_frame(clause, Frame("school", "attend", past="holds", one=True))
    young = not CHILDREN.isdisjoint(clause.who.key.split(" "))
    return [] if young else with_frame(clause, Frame("employer", "work at", past="holds", one=True))


def new_job(clause: Clause) -> list[Finding]:
    """ "a new job as a data scientist at Netflix" """
    low = clause.low
    post = Frame("job", "work as", past="holds")
    findings = with_frame(clause.after(low.index("as") + 1), post) if "as" in low else []
    return findings + (
        with_frame(clause.after(low.index("at") + 1), Frame("employer", "work at", past="holds", one=True))
        if "at" in low
        else []
    )
