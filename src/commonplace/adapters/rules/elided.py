"""What chat leaves out or turns around: "Moved to Porto", "No longer use Slack", "They promoted me to team lead".

Words are put in or exchanged so that the grammar finds "I" before its verb; they stand at the place of what they stand
for.
"""

from collections.abc import Sequence

from commonplace.adapters.rules.clauses import Chunk
from commonplace.adapters.rules.group import is_verb
from commonplace.adapters.rules.lexicon import ADVERBS, DETERMINERS, HEDGES, NUMBERS, PREPOSITIONS, RELATIONS, SUBJECTS
from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.tokens import Token
from commonplace.adapters.rules.wordsets import word_set

_FILLERS = word_set("so well ok okay btw update and but also")
_LEADS = ADVERBS - HEDGES - {"all", "both", "never", "only", "even"} | _FILLERS
_DONE = word_set(
    "moved relocated emigrated joined started switched stopped sold bought got adopted cancelled canceled uninstalled"
    " ditched swapped traded broke split gave retired resigned unsubscribed quit turned graduated left lost had"
)
"""What the user has done, when nobody is named. Their forms are no orders; `quit` is, without "my" or a verb."""
_PARTICLED = word_set("lost had got broke split gave turned started stopped quit switched")
_FEELING = word_set("love hate adore prefer")
"""Alone they are nouns as often: "Hate speech", "Love songs"."""
_FELT = word_set("really absolutely totally always still just also personally honestly")
_NOT_THINGS = PREPOSITIONS | word_set(
    "it this that these those your you how when what the to and or is are was were will can could should would may"
    " might must has had does of takes makes brings hurts conquers wins means gives comes goes lasts grows heals knows"
    " feels needs matters helps keeps really truly always never"
)
"""Behind "love" they make it a noun, or say nothing of the user: "love is …", "love and peace", "love it"."""
_SOUGHT = word_set(
    "symptoms treatment remedies causes meaning definition tips ideas list lists statistics dataset lyrics plot rules"
    " explained analysis law laws examples release reviews review tutorial vs price prices compensation winners"
)
"""What people look for: a row of words with one of them is a search, not a sentence."""
_FREELY = frozenset({"i", "my", "we", "our", "so", "and", "but", "because", "which", "who", "btw", "it"})
_FINITE = word_set("is are was were has have had does did will can would")
_LATELY = word_set("just recently finally")
_OBJECTS = DETERMINERS | NUMBERS.keys() | PREPOSITIONS | word_set("my our his her their this last next")
_OTHERS = {"been", "no longer", "not", "can't stand", "using", "working", "living", "allergic to", "finished"} | {
    "fan of",
    "big fan of",
    "huge fan of",
    "do not have",
    "don't have",
    "dont have",
    "trying to",
    "single",
    "reading",
    "diagnosed with",
}
_HEADS = "|".join(sorted(_DONE | _FEELING | _OTHERS))
_DROPPED = Pattern(rf"(?:\A|[.!?]\s)\s*(?:(?:{'|'.join(sorted(_LEADS))})[,:]? )*(?:{_HEADS})\b")
_LAUGHS = word_set("lol lmao rofl haha hahaha hehe smh xd tbh imo ngl fr")
_LONGEST = 240
_LISTED = Pattern(r"\n|^\s*(?:[-*•#>]|\d+[.)])")


def may_be_dropped(text: str) -> bool:
    """Say at a first look whether a sentence has lost its subject; `completed` decides.

    Only short talk in one line: lists, logs and change notes are written that way, too, and not about their author.
    """
    if len(text) > _LONGEST or _LISTED.search(text) is not None:
        return False
    return _DROPPED.search(text.lower()) is not None


def straightened(tokens: Sequence[Token]) -> list[Token]:
    """Return the words without "it turns out that" and its like, which only say how the user came to know, and
    without the laugh behind them."""
    while len(tokens) > 2 and tokens[-1].low in _LAUGHS:
        tokens = tokens[:-1]
    low = [token.low for token in tokens]
    for place in range(len(low) - 2):
        if low[place] in {"turns", "turned"} and low[place + 1] == "out":
            begin = place - 1 if place and low[place - 1] == "it" else place
            begin -= 1 if begin and low[begin - 1] == "as" and begin < place else 0
            end = place + 2
            while end < len(low) and low[end] in {",", "that"}:
                end += 1
            return [*tokens[:begin], *tokens[end:]] if low[end : end + 1] in (["i"], ["my"], ["we"]) else list(tokens)
    return list(tokens)


def carried_on(chunk: Chunk, before: Chunk | None) -> Chunk:
    """Return "now it's teal" behind "my favourite colour used to be green" as "my favourite colour is teal"."""
    low = [token.low for token in chunk.tokens]
    at = next((place for place, word in enumerate(low) if word not in ADVERBS), len(low))
    if before is None or low[at : at + 1] != ["it"] or low[at + 1 : at + 2] not in (["is"], ["'s"]):
        return chunk
    earlier = [token.low for token in before.tokens]
    verb = next((place for place, word in enumerate(earlier) if word in {"used", "was", "is", "'s"}), 0)
    changed = "now" in low or earlier[verb : verb + 1] in (["used"], ["was"]) or "longer" in earlier[verb:]
    if not 2 <= verb <= 5 or earlier[0] not in {"my", "our"} or not changed:
        return chunk
    return chunk._replace(tokens=[*before.tokens[:verb], *chunk.tokens[at + 1 :]])


def completed(tokens: Sequence[Token]) -> list[Token]:
    """Return the words of a sentence with the subject that was left out, if one was."""
    at = 0
    while at < len(tokens) and (tokens[at].low in _LEADS or tokens[at].low in {",", ":"}):
        at += 1
    inserted = _missing(tokens, at)
    if not inserted:
        return list(tokens)
    place = tokens[at]
    return [
        *tokens[:at],
        *(Token(word, word, place.start, place.start) for word in inserted),
        tokens[at],
        *_further(tokens[at + 1 :]),
    ]


def _further(tokens: Sequence[Token]) -> list[Token]:
    """ "finished Emma, reading Persuasion now": what comes behind a comma may have lost its subject, too."""
    for place, token in enumerate(tokens[:-2]):
        if token.low == "," and _is_state((), [other.low for other in tokens[place + 1 :]]):
            return [*tokens[: place + 1], *_words(("i", "am"), tokens[place + 1]), *tokens[place + 1 :]]
    return list(tokens)


def _missing(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    low = [token.low for token in tokens[at:]]
    if len(low) < 2 or not _SOUGHT.isdisjoint(low) or _goes_on_about_another(tokens[at:]):
        return ()
    head, following = low[0], low[1]
    if head in _DONE:
        lead = {token.low for token in tokens[:at]}
        return ("i",) if _is_own_doing(head, low) and _is_told(tokens[at:], lead) else ()
    if head in _FEELING:
        felt = any(token.low in _FELT for token in tokens[:at]) or not _FEELING.isdisjoint(low[1:])
        felt = felt or (len(low) > 2 and is_verb(following, "gerund"))
        return ("i",) if felt and following not in _NOT_THINGS else ()
    if head == "no" and following == "longer":
        return ("i",) if len(low) > 3 and is_verb(low[2], "base") else ("i", "am")
    if head == "finished":
        return ("i",) if tokens[at + 1].named else ()
    return _opened(low) or (("i", "am") if _is_state(tokens[:at], low) else ())


def _opened(low: Sequence[str]) -> tuple[str, ...]:
    """Return the subject of a sentence that is known by its first words."""
    if low[0] == "been":
        return ("i", "have")
    if low[:3] == ["can", "not", "stand"] and low[3:4] != ["up"]:
        return ("i",)
    if low[:3] == ["do", "not", "have"] and low[3:4] in (["any"], ["a"], ["kids"], ["children"], ["pets"]):
        return ("i",)
    return ("i", "am", "a") if low[:2] == ["fan", "of"] or low[1:3] == ["fan", "of"] and low[0] != "a" else ()


def _goes_on_about_another(tokens: Sequence[Token]) -> bool:
    """ "Retired in 2019, Federer was …": then the first part is about Federer."""
    low = [token.low for token in tokens]
    for place, word in enumerate(low[:-2]):
        if word != "," or low[place + 1] in _FREELY | ADVERBS or is_verb(low[place + 1]):
            continue
        if any(other in _FINITE or is_verb(other, "past", "third") for other in low[place + 2 :]):
            return True
    return False


def _is_told(tokens: Sequence[Token], lead: set[str]) -> bool:
    """What a row of words about "adopted children" or "moved to tears" is not: something of its own is named."""
    head, second = tokens[0].low, tokens[1]
    if second.low == "by":
        return False
    if head in {"moved", "relocated", "emigrated"}:
        dated = any(token.low in {"last", "ago", "yesterday", "today", "week", "month", "year"} for token in tokens)
        named = any(token.named for token in tokens[2:])
        return named or dated or not lead.isdisjoint(_LATELY)
    return second.named or second.low in _OBJECTS or second.low.endswith("ing") or head in _PARTICLED


def _is_own_doing(head: str, low: Sequence[str]) -> bool:
    following = low[1]
    if head == "had":
        return following == "to" and len(low) > 3
    if head == "lost":
        return low[1:3] == ["my", "job"]
    if head in {"quit", "left"}:
        return following == "my" or (head == "quit" and following.endswith("ing"))
    if head in {"started", "stopped"}:
        return (
            following == "at"
            or "job" in low[1:4]
            or (following.endswith("ing") and following != "working" and is_verb(following))
        )
    if head == "turned":
        return following.isdecimal() or following in NUMBERS and following not in {"a", "an"}
    if head in {"broke", "split", "gave"}:
        return following == "up"
    return True


def _is_state(lead: Sequence[Token], low: Sequence[str]) -> bool:
    """ "not using it anymore", "now working at …", "allergic to …" """
    if low[0] == "not":
        return not {"anymore", "longer"}.isdisjoint(low[2:]) or low[1:4] == ["a", "fan", "of"]
    if low[0] == "trying":
        return low[2:3] in (["learn"], ["avoid"])
    if low[0] == "single":
        return low[1] in {"again", "now"}
    if low[0] == "diagnosed":
        return low[1] == "with"
    if low[0] == "allergic":
        return low[1] == "to"
    now = not {"now", "currently", "still"}.isdisjoint(token.low for token in lead) or low[-1] in {"now", "rn", "btw"}
    return now and low[0] in {"using", "working", "living", "reading"}


_DONE_TO = {
    ("fired", ""): ("i", "got", "fired"),
    ("sacked", ""): ("i", "got", "sacked"),
    ("promoted", ""): ("i", "got", "promoted"),
    ("diagnosed", ""): ("i", "got", "diagnosed"),
    ("laid", "off"): ("i", "got", "laid", "off"),
    ("let", "go"): ("i", "got", "laid", "off"),
    ("took", "off"): ("i", "no", "longer", "take"),
    ("put", "on"): ("i", "take"),
    ("switched", "from"): ("i", "switched", "from"),
    ("moved", "from"): ("i", "switched", "from"),
}
"""The verb, and the word behind "me", with what it says of the user."""
_PARTED = ("we", "broke", "up")
_PARTING = frozenset({"left", "dumped", "ditched", "divorced"})
_BOSSES = word_set("boss manager company team employer firm")
_DOCTORS = word_set("doctor gp physician cardiologist psychiatrist dermatologist neurologist")
_TITLES = word_set(
    "manager lead leader director supervisor developer engineer head partner captain editor chief principal chair"
    " president officer ceo cto cfo coordinator consultant analyst assistant associate foreman professor teacher"
)
_CLOSING = frozenset({"", ",", "on", "in", "last", "this", "yesterday", "today", "after", "because", "from", "for"})
"""What may stand behind a sentence that is complete."""


def turned(tokens: Sequence[Token]) -> list[Token]:
    """Return "they promoted me to …" as "I got promoted to …", and everything else as it is."""
    low = [token.low for token in tokens]
    at = low.index("me") if "me" in low else 0
    if not 2 <= at <= 6 or not HEDGES.union({"not", "i", "never"}).isdisjoint(low[:at]):
        return list(tokens)
    said, after = _turned(low[: at - 1], low[at - 1], [*low[at + 1 :], "", "", ""])
    if said == _PARTED and tokens[at - 2].named:
        return [*_words((*said, "with"), tokens[0]), tokens[at - 2], *tokens[at + 1 :]]
    if low[1:3] == ["hired", "me"] and tokens[0].named and low[0] not in SUBJECTS:
        return [*_words(("i", "got", "hired", "by"), tokens[0]), tokens[0], *tokens[at + 1 :]]
    return [*_words(said, tokens[0]), *tokens[at + 1 + after :]] if said else list(tokens)


def _words(words: Sequence[str], at: Token) -> list[Token]:
    return [Token(word, word, at.start, at.stop) for word in words]


def _turned(subject: Sequence[str], verb: str, behind: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return the words for subject, verb and "me", and how many words behind "me" are in them."""
    mine = subject[0] in {"my", "our"}
    partner = mine and any(RELATIONS.get(word) == "partner" for word in subject[-2:])
    if verb in _PARTING and partner and behind[0] in _CLOSING:
        return (("i", "got", "divorced") if verb == "divorced" else _PARTED), 0
    if verb == "made":
        bosses = subject[-1] == "they" or (mine and subject[-1] in _BOSSES)
        return (("i", "am") if bosses and not _TITLES.isdisjoint(behind[:4]) else ()), 0
    if not _is_meant(subject[-1], verb, behind):
        return (), 0
    if (verb, behind[0]) in _DONE_TO:
        return _DONE_TO[verb, behind[0]], 1
    return _DONE_TO.get((verb, ""), ()), 0


def _is_meant(actor: str, verb: str, behind: Sequence[str]) -> bool:
    """ "let me go home", "put me on the list" are other things."""
    if (verb, behind[0]) == ("let", "go"):
        return behind[1] in _CLOSING
    return (verb, behind[0]) not in {("took", "off"), ("put", "on")} or actor in _DOCTORS
