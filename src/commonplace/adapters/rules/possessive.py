""" "My … is …": names, addresses, favourites, goals, things and small details, told apart by the noun."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.ahead import verb_phrase
from commonplace.adapters.rules.clause import Clause, Finding, When, found, told
from commonplace.adapters.rules.frames import is_place
from commonplace.adapters.rules.group import known_verbs
from commonplace.adapters.rules.having import is_possession
from commonplace.adapters.rules.lexicon import BRITISH
from commonplace.adapters.rules.moments import shown
from commonplace.adapters.rules.phrases import cleaned, coordinated, until_stop
from commonplace.adapters.rules.render import sentence
from commonplace.adapters.rules.tokens import Token, words
from commonplace.adapters.rules.topics import EVENT_NOUNS, PLACE_NOUNS, POSSESSIONS
from commonplace.adapters.rules.wordsets import word_set

_SIMPLE: dict[str, tuple[str, str]] = {
    "name": ("name", "be called"),
    "full name": ("name", "be called"),
    "first name": ("name", "be called"),
    "nickname": ("nickname", "go by"),
    "pronouns": ("pronouns", "use the pronouns"),
    "email": ("email", ""),
    "email address": ("email", ""),
    "e-mail": ("email", ""),
    "phone number": ("phone", ""),
    "number": ("phone", ""),
    "mobile number": ("phone", ""),
    "cell": ("phone", ""),
    "address": ("address", ""),
    "home address": ("address", ""),
    "timezone": ("timezone", ""),
    "time zone": ("timezone", ""),
    "birthday": ("birthday", ""),
    "date of birth": ("birthday", ""),
    "birthplace": ("birthplace", ""),
    "job": ("job", ""),
    "job title": ("job", ""),
    "occupation": ("job", ""),
    "profession": ("job", ""),
    "day job": ("job", ""),
    "role": ("job", ""),
    "position": ("job", ""),
    "employer": ("employer", ""),
    "company": ("employer", ""),
    "workplace": ("employer", ""),
    "hometown": ("hometown", ""),
    "home town": ("hometown", ""),
    "blood type": ("blood_type", ""),
    "height": ("height", ""),
    "weight": ("weight", ""),
    "age": ("age", ""),
    "religion": ("religion", ""),
    "nationality": ("nationality", ""),
    "passion": ("likes", "love"),
    "hobby": ("hobby", ""),
    "hobbies": ("hobby", ""),
    "native language": ("speaks", "speak"),
    "mother tongue": ("speaks", "speak"),
    "first language": ("speaks", "speak"),
    "native tongue": ("speaks", "speak"),
    "second language": ("speaks", "speak"),
    "diet": ("diet", ""),
    "major": ("studies", "study"),
    "biggest fear": ("fears", "fear"),
    "greatest fear": ("fears", "fear"),
    "school": ("school", ""),
    "university": ("school", ""),
    "marital status": ("marital_status", ""),
}
_DETAILS = word_set(
    "surname code number size type topic deadline budget id handle username motto sign team salary thesis topic"
    " name plate pin locker landlord hours"
    " schedule shift rent income mortgage license licence passport visa status gender title department floor"
    " wifi shoe ring"
    " alma-mater anniversary zodiac horoscope instagram twitter github linkedin website blog channel"
)
_PARTS = frozenset({"part", "thing", "bit", "one", "moment", "line", "answer", "option", "version", "feature", "quote"})
_PASSING = frozenset(
    {"order", "ticket", "case", "invoice", "tracking", "reference", "flight", "confirmation", "booking", "error"}
)
_MANY = frozenset({"hobby", "speaks", "diet", "studies", "fears", "nationality"})
_STATES = frozenset(
    {
        "down",
        "broken",
        "late",
        "great",
        "good",
        "bad",
        "simple",
        "slow",
        "wrong",
        "here",
        "gone",
        "ready",
        "done",
        "missing",
        "fine",
        "dead",
        "empty",
        "open",
        "closed",
        "up",
        "not",
    }
)


_NEW_NAMES = frozenset({("york",), ("zealand",), ("year",), ("years",), ("year's",), ("orleans",)})


def possessed(clause: Clause, noun: Sequence[Token]) -> list[Finding]:
    """Read "<noun> is <rest of the clause>" about something of the user."""
    low = tuple(BRITISH.get(word, word) for word in words(noun))
    low = low[: low.index("for")] if "for" in low else low
    if low[:1] in {("new",), ("current",)} and noun[0].text.islower() and low[1:2] not in _NEW_NAMES | {()}:
        low = low[1:]
    key = " ".join(low)
    if not low or not clause.full or clause.full[0].low in _STATES and len(clause.full) == 1:
        return []
    if low[0] == "favourite" and len(low) > 1:
        return _favourite(clause, " ".join(low[1:]))
    if low[-1] == "resolution" or key in {
        "goal",
        "aim",
        "dream",
        "objective",
        "biggest dream",
        "ambition",
        "main goal",
        "resolution",
        "life goal",
        "biggest goal",
    }:
        return _aimed(clause, "wants" if "dream" in key else "goal")
    if key in _SIMPLE and (key != "number" or is_phone_number(clause.full)):
        return _simple(clause, *_SIMPLE[key], key)
    if low[-1] in EVENT_NOUNS:
        return _appointed(clause, key)
    return _thing(clause, low, key)


def _favourite(clause: Clause, thing: str) -> list[Finding]:
    phrase = cleaned(_value(clause.rest if clause.ended else clause.full))
    if phrase is None or clause.group.tense == "past" or thing in _PARTS or clause.group.negated and not clause.ended:
        return []
    plural = thing.endswith("s") and not thing.endswith(("ss", "us"))
    singular = thing.removesuffix("s") if plural else thing
    stands = ("are" if plural else "is") + (" no longer" if clause.ended else "")
    return [
        told(
            clause,
            f"favourite {singular}",
            phrase.text,
            f"{clause.who.shown}'s favourite {thing} {stands} {phrase.whole}",
        )
    ]


_CLOSES = word_set("but because so which although though while not well actually no or")
"""What a value ends before, and a comma with it: "blue, not green"."""


def _value(tokens: Sequence[Token]) -> Sequence[Token]:
    end = next((place for place, token in enumerate(tokens) if token.low in _CLOSES), len(tokens))
    hesitates = tokens[end:] and tokens[end].low in {"well", "actually", "no", "or"}
    return tokens[:end] if not hesitates else ()


def _aimed(clause: Clause, attribute: str) -> list[Finding]:
    tokens = clause.full
    if len(tokens) < 2 or tokens[0].low != "to" or clause.group.tense == "past":
        return []
    known = known_verbs().find(tokens[1].low)
    value = verb_phrase(tokens[2:], known[0] if known is not None else tokens[1].low)
    lead = "wants to" if attribute == "wants" else "has the goal to"
    return [told(clause, attribute, value, sentence(clause.who, lead, value))]


def _simple(clause: Clause, attribute: str, verb: str, key: str) -> list[Finding]:
    tokens = clause.full
    skipped = {
        "called",
        "named",
        "spelled",
        "spelt",
        "just",
        "currently",
        "now",
        "actually",
        *({"in", "on"} if attribute in {"birthday", "school"} else ()),
    }
    while tokens and tokens[0].low in skipped:
        tokens = tokens[1:]
    if tokens and tokens[0].low in {"in", "on", "at", "for", "to"}:
        return []
    if attribute in _MANY:
        phrases = coordinated(tokens[: until_stop(tokens, through=frozenset({"of", "in", "with"}))])
    else:
        end = next(
            (
                place
                for place, token in enumerate(tokens)
                if token.low in {"and", "but", "because", "or", "not", "with"}
            ),
            len(tokens),
        )
        phrase = cleaned(tokens[:end])
        phrases = [phrase] if phrase is not None else []
    phrases = [phrase for phrase in phrases if _fits(attribute, phrase.text)]
    if verb:
        return [found(clause, attribute, phrase, verb) for phrase in phrases]
    stands = {"ended": "is no longer", "denied": "is not"}.get(clause.standing, "is")
    return [
        told(clause, attribute, phrase.text, f"{clause.who.shown}'s {key} {stands} {phrase.whole}", when="none")
        for phrase in phrases
    ]


def is_phone_number(tokens: Sequence[Token]) -> bool:
    """ "my number is …": seven digits are no jersey's."""
    return sum(sign.isdigit() for token in tokens for sign in token.text) >= 7


def _fits(attribute: str, value: str) -> bool:
    if attribute in {"phone", "age", "height", "weight"}:
        return any(sign.isdigit() for sign in value)
    if attribute == "email":
        return "@" in value
    if attribute in {"employer", "school", "hometown", "birthplace"}:
        return value[:1].isupper()
    return value.lower() not in {
        "it",
        "this",
        "that",
        "great",
        "hard",
        "boring",
        "stressful",
        "killing",
        "important",
        "over",
        "today",
        "tomorrow",
        "irrelevant",
    }


def _appointed(clause: Clause, key: str) -> list[Finding]:
    span = clause.dated(ahead=True)
    if span is None or span.stop <= clause.at or clause.group.negated or clause.group.tense == "past":
        return []
    return [told(clause, "plans", key, f"{clause.who.shown}'s {key} is {shown(span)}", when="spans")]


def _thing(clause: Clause, low: tuple[str, ...], key: str) -> list[Finding]:
    head, tokens = low[-1], clause.full
    if head in PLACE_NOUNS | {"home", "place"} and tokens[0].low == "in":
        place = cleaned(tokens[1 : 1 + until_stop(tokens[1:])])
        return (
            [told(clause, "home", place.text, f"{clause.who.shown} lives in {place.text}")]
            if place is not None and is_place(place)
            else []
        )
    phrase = cleaned(
        tokens[: until_stop(tokens, through=frozenset({"of"}))] if tokens[0].low not in {"on", "in"} else tokens[1:]
    )
    if phrase is None:
        return []
    if head in POSSESSIONS and is_possession(phrase) and phrase.named:
        return [told(clause, "owns", phrase.text, f"{clause.who.shown}'s {key} is {phrase.whole}")]
    if head == "name" and low[0] not in {"last", "middle", "maiden", "family", "user", "stage", "pen"}:
        return []
    if (
        head in _DETAILS
        and _PASSING.isdisjoint(low)
        and (phrase.named or any(sign.isdigit() for sign in phrase.text) or len(low) > 1)
        and not clause.group.negated
        and clause.group.tense == "present"
    ):
        stands = "is no longer" if clause.ended else "is"
        when: When = "ended" if clause.ended else "none"
        text = f"{clause.who.shown}'s {key} {stands} {phrase.whole}"
        return [told(clause, f"detail {key}", phrase.text, text, when=when)]
    return []


def favourite_of(clause: Clause, before: Sequence[Token], after: Sequence[Token]) -> list[Finding]:
    """ "Sushi is my favourite food" """
    phrase, thing = cleaned(before), cleaned(after[: until_stop(after)])
    if phrase is None or thing is None or phrase.low[0] in {"it", "this", "that", "which", "what"}:
        return []
    kind = " ".join(BRITISH.get(word, word) for word in thing.low)
    return [replace(told(clause, f"favourite {kind}", phrase.text, f"User's favourite {kind} is {phrase.whole}"))]
