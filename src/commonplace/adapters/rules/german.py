"""German, the smaller set: name, home, work, tools, taste, family and pets, languages, allergies, and what is no
longer so."""

import re

from commonplace.adapters.rules.patterned import Patterned, Rule
from commonplace.adapters.rules.patterns import Pattern

_RELATIONS = {
    "frau": ("partner", "wife"),
    "mann": ("partner", "husband"),
    "freundin": ("partner", "girlfriend"),
    "freund": ("partner", "boyfriend"),
    "partner": ("partner", "partner"),
    "partnerin": ("partner", "partner"),
    "tochter": ("child", "daughter"),
    "sohn": ("child", "son"),
    "schwester": ("sibling", "sister"),
    "bruder": ("sibling", "brother"),
    "mutter": ("parent", "mother"),
    "vater": ("parent", "father"),
    "mama": ("parent", "mother"),
    "papa": ("parent", "father"),
    "oma": ("relative", "grandmother"),
    "opa": ("relative", "grandfather"),
    "hund": ("pet", "dog"),
    "hündin": ("pet", "dog"),
    "katze": ("pet", "cat"),
    "kater": ("pet", "cat"),
    "hase": ("pet", "rabbit"),
    "chef": ("colleague", "boss"),
    "chefin": ("colleague", "boss"),
}
_ANIMALS = (
    "hund|hunde|katze|katzen|kater|hamster|hase|hasen|kaninchen|pferd|vogel|papagei|wellensittich|hündin"
    "|meerschweinchen"
)
_CHILDREN = "kind|kinder|sohn|söhne|tochter|töchter|zwillinge"
_DIETS = frozenset({"vegan", "veganer", "veganerin", "vegetarier", "vegetarierin", "vegetarisch"})
_JOB = (
    r"(?:\w+(?:lehrer|lehrerin|arzt|ärztin|er|erin|ist|istin|eur|eurin|or|orin|ant|antin|ent|entin|mann|frau"
    r"|koch|köchin|anwalt|anwältin|wirt|wirtin)|arzt|ärztin|koch|köchin|rentner|rentnerin|student|studentin"
    r"|azubi)"
)
_NAME = r"(?P<v>[A-ZÄÖÜ][\w'-]+(?: [A-ZÄÖÜ][\w'-]+){0,2})"
_PLACE = r"(?P<v>(?:der |den |dem )?[A-ZÄÖÜ][\w'. -]*?)"


def _rule(pattern: str, attribute: str, verb: str, *, flags: int = re.IGNORECASE, **more: object) -> Rule:
    return Rule(Pattern(rf"(?:{pattern})\s*$", flags), attribute, verb, **more)  # type: ignore[arg-type]


_RULES = (
    _rule(rf"(?i:(?:ich )?hei(?:ß|ss)e|mein name ist|nenn mich) {_NAME}", "name", "be called", flags=0, one=True),
    _rule(
        rf"(?i:(?:ich )?(?:wohne|lebe)(?: ich)?(?: seit \w+(?: \w+)?)? in) {_PLACE}",
        "home",
        "live in",
        flags=0,
        one=True,
    ),
    _rule(rf"(?i:(?:ich )?komme aus) {_PLACE}", "hometown", "come from", flags=0, one=True),
    _rule(r"(?:ich )?arbeite(?: seit \w+(?: \w+)?)? (?:bei|für) (?P<v>.+)", "employer", "work at", one=True),
    _rule(r"(?:ich )?arbeite als (?P<v>.+)", "job", "work as", one=True),
    _rule(r"(?:ich )?bin (?P<v>\d{1,3})(?: jahre alt)?", "age", "be", tail="years old"),
    _rule(r"(?:ich )?bin allergisch (?:gegen|auf) (?P<v>.+)", "allergic_to", "be allergic to"),
    _rule(r"(?:ich )?bin (?P<v>[\w-]+)", "diet", "be", only=_DIETS),
    _rule(r"(?:ich )?bin (?P<v>verheiratet|ledig|geschieden|verlobt|verwitwet)", "marital_status", "be"),
    _rule(rf"(?i:(?:ich )?bin(?: eine?| von beruf)?) (?P<v>(?=[A-ZÄÖÜ])(?i:{_JOB}))", "job", "be", flags=0, one=True),
    _rule(r"(?:ich )?(?:benutze|nutze|verwende|arbeite mit)(?: ich)? (?P<v>.+)", "uses", "use"),
    _rule(r"(?:ich )?(?:mag|liebe)(?: ich)? (?P<v>.+)", "likes", "like", negated=("dislikes", "dislike")),
    _rule(r"(?:ich )?(?:hasse|verabscheue) (?P<v>.+)", "dislikes", "dislike"),
    _rule(r"(?:ich )?(?:bevorzuge) (?P<v>.+)", "prefers", "prefer"),
    _rule(
        rf"(?i:(?:ich )?habe (?:eine?n? )?(?:{_ANIMALS}),? (?:namens|der|die|das)? ?(?:heißt )?){_NAME}",
        "pet",
        "have a pet named",
        flags=0,
        one=True,
    ),
    _rule(rf"(?:ich )?habe (?P<v>(?:\w+ )?(?:{_ANIMALS}))", "pet", "have"),
    _rule(rf"(?:ich )?habe (?P<v>(?:\w+ )?(?:{_CHILDREN}))", "child", "have"),
    _rule(
        r"(?:ich )?habe (?P<v>(?:asthma|diabetes|migräne|rheuma|epilepsie|bluthochdruck|adhs|zöliakie))",
        "condition",
        "have",
    ),
    _rule(r"(?:ich )?habe (?P<v>(?:\w+ )?(?:auto|fahrrad|motorrad|garten|haus|wohnung|boot|laptop))", "owns", "have"),
    _rule(r"(?:ich )?spreche (?P<v>.+)", "speaks", "speak"),
    _rule(r"(?:ich )?lerne (?P<v>.+)", "learns", "learn"),
    _rule(r"(?:ich )?(?:esse|trinke) (?P<v>.+)", "consumes", "consume", negated=("avoids", "avoid")),
    _rule(r"(?:ich )?rauche", "habit", "smoke", value="smoke"),
    _rule(r"(?:ich )?spiele (?P<v>\w+)", "hobby", "play"),
    _rule(r"mein(?:e|) lieblings(?P<k>\w+) ist (?P<v>.+)", "favourite", "have the favourite", one=True),
)
_OWNED_RULES = (
    _rule(rf"(?i:hei(?:ß|ss)t) {_NAME}", "relation", "", flags=0, one=True),
    _rule(rf"(?i:(?:wohnt|lebt) in) {_PLACE}", "home", "live in", flags=0, one=True),
    _rule(r"arbeitet (?:bei|für) (?P<v>.+)", "employer", "work at", one=True),
    _rule(r"(?:mag|liebt) (?P<v>.+)", "likes", "like", negated=("dislikes", "dislike")),
    _rule(r"hasst (?P<v>.+)", "dislikes", "dislike"),
    _rule(r"ist (?P<v>\d{1,3})(?: jahre alt)?", "age", "be", tail="years old"),
    _rule(r"ist allergisch (?:gegen|auf) (?P<v>.+)", "allergic_to", "be allergic to"),
)


class German(Patterned):
    """Reads German."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            code="de",
            cue=Pattern(r"\b(?:ich|meine?r?|unsere?r?)\b", re.IGNORECASE),
            skip=Pattern(
                r"\b(?:wenn|falls|ob|würde|hätte|wäre|könnte|möchte|vielleicht|stell dir vor|angenommen|sagt"
                r"|sagte|meint|behauptet|denkt|glaubt)\b"
                r"|^\s*(?:bitte )?(?:schreib|übersetz|erklär|gib|mach|zeig|nenn mir|wo|was|wer|wie|warum|wann"
                r"|welche|bin ich|habe ich|soll)\w*\b",
                re.IGNORECASE,
            ),
            clause_break=Pattern(
                r",? (?:und|aber|denn|sondern)(?= (?:ich|meine?|wohne|lebe|arbeite|benutze|mag|liebe|hasse|habe"
                r"|spreche|bin|komme|heiße)\b)|, (?=(?:ich|meine?)\b)|;",
                re.IGNORECASE,
            ),
            ended=Pattern(r"\bnicht mehr\b|\bkeine?[nrms]?\b(?=.*\bmehr\b)|(?<=\w) mehr\b(?=\s*$)", re.IGNORECASE),
            denied=Pattern(r"\b(?:nicht|keine?[nrms]?|nie|niemals)\b", re.IGNORECASE),
            conjunction=Pattern(r",\s*|\s+(?:und|oder|sowie)\s+"),
            article=Pattern(
                r"^(?:(?:der|die|das|den|dem|eine?[nrms]?|meine?[nrms]?|etwas|ein bisschen|ein wenig|viel"
                r"|gerne?)\s+)+",
                re.IGNORECASE,
            ),
            fillers=Pattern(
                r"(?<=\s)(?:auch|gerade|jetzt|momentan|zurzeit|übrigens|eigentlich|sehr|wirklich|gerne?|immer"
                r"|noch|hallo|hi)(?=\s)",
                re.IGNORECASE,
            ),
            rules=_RULES,
            owned=Pattern(r"(?:meine?|unsere?)\s+(?P<noun>\w+)\s+(?P<rest>.+)", re.IGNORECASE),
            owned_rules=_OWNED_RULES,
            relations=_RELATIONS,
        )
