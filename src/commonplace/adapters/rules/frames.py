"""Verbs that say one thing about their object, as a table: "rely on X" is a use of X, "can't stand X" a dislike."""

from commonplace.adapters.rules.clause import Clause, Finding
from commonplace.adapters.rules.frame import Frame, with_frame
from commonplace.adapters.rules.lexicon import RELATIONS
from commonplace.adapters.rules.phrases import Phrase
from commonplace.adapters.rules.topics import (
    ABSTRACT_PLACES,
    ACTIVITIES,
    CONDITIONS,
    PLACE_NOUNS,
    SCHOOL_WORDS,
    SPORTS_AND_INSTRUMENTS,
)


def is_place(phrase: Phrase) -> bool:
    if not ABSTRACT_PLACES.isdisjoint(phrase.low) or phrase.definite in {"my", "our"}:
        return False
    return (
        phrase.named or not PLACE_NOUNS.isdisjoint(phrase.low) or (phrase.whole == phrase.text and len(phrase.low) <= 2)
    )


def is_named(phrase: Phrase) -> bool:
    return phrase.named


def is_workplace(phrase: Phrase) -> bool:
    return phrase.low[0] not in {
        "home",
        "same",
        "night",
        "myself",
        "free",
        "now",
        "noon",
        "least",
        "first",
        "long",
        "living",
        "office",
        "last",
        "it",
    } and not (phrase.low[0][0].isdigit() or phrase.low[-1] in {"hours", "days", "money", "fun", "years"})


def is_pastime(phrase: Phrase) -> bool:
    return not (ACTIVITIES | SPORTS_AND_INSTRUMENTS).isdisjoint(phrase.low) or phrase.low[-1].endswith(("ing", "do"))


def is_condition(phrase: Phrase) -> bool:
    return (
        not CONDITIONS.isdisjoint(phrase.text.lower().split(" "))
        or "ADD" in phrase.text.split()
        or phrase.low[-1].endswith(("itis", "osis", "emia", "aemia", "algia", "phobia", "pathy"))
        or phrase.head in {"syndrome", "disorder", "disease"}
    )


def is_vehicle(phrase: Phrase) -> bool:
    """ "a Honda", "my old van": one also drives trucks, the bus, one's kids and one's boss crazy."""
    if phrase.definite == "the" or phrase.head in RELATIONS.keys() | {"tram", "bus", "taxi", "truck", "train", "uber"}:
        return False
    return phrase.named or phrase.whole != phrase.text


_LIKING = frozenset({"of", "about", "on", "in", "with", "from", "like", "without"})
_LIKES = ("dislikes", "dislike")
_USE = Frame("uses", "use")


def _like(verb: str) -> Frame:
    return Frame("likes", verb, past="drop", negated=_LIKES, through=_LIKING)


def _hate(verb: str) -> Frame:
    return Frame("dislikes", verb, past="drop", through=_LIKING)


_MEALS = frozenset(
    {"breakfast", "lunch", "dinner", "supper", "out", "late", "early", "well", "healthy", "healthier", "clean"}
)
_WORN = frozenset({"glasses", "contacts", "lenses", "aid", "aids", "braces", "dentures", "hijab", "wig", "retainer"})
FRAMES: dict[str, Frame] = {
    "use": _USE,
    "utilise": _USE,
    "utilize": _USE,
    "rely on": Frame("uses", "rely on"),
    "depend on": Frame("uses", "depend on", accepts=is_named),
    "work with": Frame("uses", "work with", accepts=is_named),
    "code in": Frame("uses", "code in"),
    "code with": Frame("uses", "code with"),
    "program in": Frame("uses", "program in"),
    "write in": Frame("uses", "write in", accepts=is_named),
    "develop in": Frame("uses", "develop in"),
    "subscribe to": Frame("uses", "subscribe to"),
    "pay for": Frame("uses", "pay for", accepts=is_named),
    "swear by": Frame("uses", "swear by"),
    "shoot with": Frame("uses", "shoot with"),
    "shoot on": Frame("uses", "shoot on", accepts=is_named),
    "run on": Frame("uses", "run on", accepts=is_named),
    "run everything on": Frame("uses", "run everything on"),
    "wear": Frame("uses", "wear", accepts=lambda p: p.low[-1] in _WORN),
    "like": _like("like"),
    "love": _like("love"),
    "enjoy": _like("enjoy"),
    "adore": _like("adore"),
    "dig": _like("dig"),
    "care for": _like("care for"),
    "fancy": _like("fancy"),
    "listen to": Frame("likes", "listen to", past="drop", through=_LIKING),
    "follow": Frame("likes", "follow", accepts=is_named),
    "major in": Frame("studies", "major in", past="ended"),
    "hate": _hate("hate"),
    "dislike": _hate("dislike"),
    "detest": _hate("detest"),
    "loathe": _hate("loathe"),
    "despise": _hate("despise"),
    "prefer": Frame("prefers", "prefer", past="ended", through=frozenset({"of", "in", "with", "without"})),
    "support": Frame("supports", "support", accepts=is_named),
    "root for": Frame("supports", "root for"),
    "cheer for": Frame("supports", "cheer for"),
    "speak": Frame("speaks", "speak", accepts=lambda p: p.named or len(p.low) == 1),
    "learn": Frame("learns", "learn"),
    "own": Frame("owns", "own", past="ended"),
    "drive": Frame("owns", "drive", past="ended", accepts=lambda p: is_vehicle(p)),
    "eat": Frame("consumes", "eat", negated=("avoids", "not eat"), accepts=lambda p: p.low[0] not in _MEALS),
    "drink": Frame("consumes", "drink", negated=("avoids", "not drink")),
    "consume": Frame("consumes", "consume", negated=("avoids", "not consume")),
    "avoid": Frame("avoids", "avoid"),
    "abstain from": Frame("avoids", "abstain from"),
    "stay away from": Frame("avoids", "stay away from"),
    "suffer from": Frame("condition", "suffer from", past="ended"),
    "struggle with": Frame("condition", "struggle with", past="ended", accepts=is_condition),
    "live with": Frame("condition", "live with", accepts=is_condition),
    "live in": Frame(
        "home",
        "live in",
        past="ended",
        accepts=is_place,
        one=True,
        through=frozenset({"near", "in", "by", "of", "outside", "from"}),
    ),
    "live at": Frame("address", "live at", past="ended", accepts=lambda p: p.low[0][0].isdigit(), one=True),
    "live near": Frame("home", "live near", past="ended", accepts=is_place, one=True),
    "reside in": Frame("home", "live in", past="ended", one=True),
    "live on": Frame("home", "live on", past="ended", accepts=lambda p: not PLACE_NOUNS.isdisjoint(p.low), one=True),
    "settle in": Frame("home", "live in", past="holds", accepts=is_place, one=True),
    "settle down in": Frame("home", "live in", past="holds", accepts=is_place, one=True),
    "grow up in": Frame(
        "hometown", "come from", past="holds", one=True, accepts=is_place, through=frozenset({"in", "near", "of"})
    ),
    "come from": Frame("hometown", "come from", one=True, through=frozenset({"in", "near", "of"}), accepts=is_place),
    "hail from": Frame("hometown", "come from", one=True),
    "work at": Frame("employer", "work at", past="ended", accepts=is_workplace, one=True),
    "work for": Frame("employer", "work for", past="ended", accepts=is_workplace, one=True),
    "work as": Frame("job", "work as", past="ended"),
    "make a living as": Frame("job", "work as", past="ended"),
    "attend": Frame("school", "attend", past="ended", accepts=lambda p: not SCHOOL_WORDS.isdisjoint(p.low), one=True),
    "graduate from": Frame("education", "be a graduate of", past="holds", one=True, accepts=is_named),
    "practise": Frame("hobby", "practise", accepts=lambda p: is_pastime(p)),
    "practice": Frame("hobby", "practice", accepts=lambda p: is_pastime(p)),
    "believe in": Frame("believes", "believe in", accepts=lambda p: p.low[0] not in {"you", "yourself", "him", "her"}),
    "belong to": Frame("member_of", "belong to"),
    "study at": Frame("school", "study at", past="ended", one=True),
}
_LONGEST_KEY = 3


def frame_of(clause: Clause) -> tuple[Frame, int] | None:
    """Return the frame of the verb with its preposition, and how many words after the verb belong to it."""
    low = clause.low[:_LONGEST_KEY]
    for length in range(len(low), -1, -1):
        frame = FRAMES.get(" ".join((clause.group.lemma, *low[:length])))
        if frame is not None:
            return (frame, length)
    return None


def framed(clause: Clause) -> list[Finding]:
    match = frame_of(clause)
    if match is None:
        return []
    frame, length = match
    return with_frame(clause.after(length), frame)
