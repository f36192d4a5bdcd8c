"""Spanish, the smaller set.

The verb carries the person, so its form alone ("vivo", "uso") says that the user speaks of themselves.
"""

import re

from commonplace.adapters.rules.patterned import Patterned, Rule
from commonplace.adapters.rules.patterns import Pattern

_RELATIONS = {
    "esposa": ("partner", "wife"),
    "mujer": ("partner", "wife"),
    "marido": ("partner", "husband"),
    "esposo": ("partner", "husband"),
    "novia": ("partner", "girlfriend"),
    "novio": ("partner", "boyfriend"),
    "pareja": ("partner", "partner"),
    "hija": ("child", "daughter"),
    "hijo": ("child", "son"),
    "hermana": ("sibling", "sister"),
    "hermano": ("sibling", "brother"),
    "madre": ("parent", "mother"),
    "padre": ("parent", "father"),
    "mamá": ("parent", "mother"),
    "papá": ("parent", "father"),
    "abuela": ("relative", "grandmother"),
    "abuelo": ("relative", "grandfather"),
    "perro": ("pet", "dog"),
    "perra": ("pet", "dog"),
    "gato": ("pet", "cat"),
    "gata": ("pet", "cat"),
    "jefe": ("colleague", "boss"),
    "jefa": ("colleague", "boss"),
}
_ANIMALS = "perros?|perras?|gatos?|gatas?|conejos?|hámster|caballos?|loros?|tortugas?|peces"
_CHILDREN = "hijos?|hijas?|gemelos|gemelas"
_DIETS = frozenset({"vegano", "vegana", "vegetariano", "vegetariana", "celíaco", "celíaca"})
_MARRIED = frozenset({"casado", "casada", "soltero", "soltera", "divorciado", "divorciada", "viudo", "viuda"})
_JOB = (
    r"\w+(?:ero|era|or|ora|ista|ogo|oga|ante|ente|ico|ica|ado|ada|ario|aria|ino|ina)|médico|médica|chef|piloto"
    r"|juez|jueza|policía"
)
_NAME = r"(?P<v>[A-ZÁÉÍÓÚÑ][\w'-]+(?: [A-ZÁÉÍÓÚÑ][\w'-]+){0,2})"
_PLACE = r"(?P<v>(?:la |el |los |las )?[A-ZÁÉÍÓÚÑ][\w'. -]*?)"


def _rule(pattern: str, attribute: str, verb: str, *, flags: int = re.IGNORECASE, **more: object) -> Rule:
    return Rule(Pattern(rf"(?:yo )?(?:{pattern})\s*$", flags), attribute, verb, **more)  # type: ignore[arg-type]


_RULES = (
    _rule(rf"(?i:me llamo|mi nombre es|llámame) {_NAME}", "name", "be called", flags=0, one=True),
    _rule(rf"(?i:vivo en) {_PLACE}", "home", "live in", flags=0, one=True),
    _rule(rf"(?i:soy de) {_PLACE}", "hometown", "be from", flags=0, one=True),
    _rule(rf"(?i:trabajo (?:en|para)) {_PLACE}", "employer", "work at", flags=0, one=True),
    _rule(r"trabajo (?:como|de) (?P<v>.+)", "job", "work as", one=True),
    _rule(r"tengo (?P<v>\d{1,3}) años", "age", "be", tail="years old"),
    _rule(r"soy alérgic[oa] (?:al?|a los|a las|a la) (?P<v>.+)", "allergic_to", "be allergic to"),
    _rule(r"soy (?P<v>\w+)", "diet", "be", only=_DIETS),
    _rule(r"(?:soy|estoy) (?P<v>\w+)", "marital_status", "be", only=_MARRIED),
    _rule(rf"soy (?:una? )?(?P<v>(?:{_JOB}))", "job", "be", one=True),
    _rule(r"(?:uso|utilizo) (?P<v>.+)", "uses", "use"),
    _rule(r"me (?:gustan?|encantan?) (?P<v>.+)", "likes", "like", negated=("dislikes", "dislike")),
    _rule(r"(?:amo|adoro) (?P<v>.+)", "likes", "like", negated=("dislikes", "dislike")),
    _rule(r"(?:odio|detesto) (?P<v>.+)", "dislikes", "dislike"),
    _rule(r"prefiero (?P<v>.+)", "prefers", "prefer"),
    _rule(
        rf"(?i:tengo (?:una? )?(?:{_ANIMALS}) (?:que se llama|llamad[oa])) {_NAME}",
        "pet",
        "have a pet named",
        flags=0,
        one=True,
    ),
    _rule(rf"tengo (?P<v>(?:\w+ )?(?:{_ANIMALS}))", "pet", "have"),
    _rule(rf"tengo (?P<v>(?:\w+ )?(?:{_CHILDREN}))", "child", "have"),
    _rule(r"tengo (?P<v>asma|diabetes|migrañas?|artritis|epilepsia|hipertensión)", "condition", "have"),
    _rule(r"tengo (?P<v>(?:una? )?(?:coche|carro|moto|bicicleta|casa|piso|jardín|barco|portátil))", "owns", "have"),
    _rule(r"hablo (?P<v>.+)", "speaks", "speak"),
    _rule(r"(?:estudio|estoy estudiando) (?P<v>\w+)", "studies", "study", one=True),
    _rule(r"(?:aprendo|estoy aprendiendo) (?P<v>\w+)", "learns", "learn"),
    _rule(r"(?:como|bebo|tomo) (?P<v>.+)", "consumes", "consume", negated=("avoids", "avoid")),
    _rule(r"fumo", "habit", "smoke", value="smoke"),
    _rule(r"toco (?P<v>.+)", "hobby", "play"),
    _rule(r"mi (?P<k>\w+) favorit[oa] es (?P<v>.+)", "favourite", "have the favourite", one=True),
)
_OWNED_RULES = (
    _rule(rf"(?i:se llama) {_NAME}", "relation", "", flags=0, one=True),
    _rule(rf"(?i:vive en) {_PLACE}", "home", "live in", flags=0, one=True),
    _rule(rf"(?i:trabaja (?:en|para)) {_PLACE}", "employer", "work at", flags=0, one=True),
    _rule(r"tiene (?P<v>\d{1,3}) años", "age", "be", tail="years old"),
    _rule(r"odia (?P<v>.+)", "dislikes", "dislike"),
    _rule(r"habla (?P<v>.+)", "speaks", "speak"),
)


class Spanish(Patterned):
    """Reads Spanish."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            code="es",
            cue=Pattern(
                r"\b(?:soy|vivo|tengo|trabajo|uso|utilizo|hablo|odio|detesto|amo|adoro|prefiero|fumo|bebo|toco"
                r"|estudio|aprendo|estoy"
                r"|me (?:llamo|gustan?|encantan?)|llámame|ya no|mi \w+ (?:es|vive|trabaja|tiene|odia|habla"
                r"|se llama|favorit[oa]))\b",
                re.IGNORECASE,
            ),
            skip=Pattern(
                r"^\s*si\b|\b(?:ojalá|quizás?|tal vez|imagina|supongamos|dice|dijo|dicen|piensa|cree)\b"
                r"|\w+(?:ría|rías|ríamos)\b|\w+iera\b|¿"
                r"|^\s*(?:por favor )?(?:escribe|traduce|explica|dame|dime|haz|muéstrame|dónde|qué|quién|cómo"
                r"|cuándo|cuál|por qué)\b",
                re.IGNORECASE,
            ),
            clause_break=Pattern(
                r",? (?:y|pero|e|aunque)(?= (?:yo|mi|me|vivo|trabajo|uso|tengo|soy|hablo|odio|no|ya no"
                r"|prefiero)\b)|, (?=(?:yo|mi|me|vivo|trabajo|tengo|soy|hablo)\b)|;",
                re.IGNORECASE,
            ),
            ended=Pattern(r"\bya no\b", re.IGNORECASE),
            denied=Pattern(r"^\s*(?:yo )?no\b|\bnunca\b", re.IGNORECASE),
            conjunction=Pattern(r",\s*|\s+(?:y|e|o|ni)\s+"),
            article=Pattern(
                r"^(?:(?:el|la|los|las|una?|unos|unas|mis?|mucho|algo de|un poco de|tomar|comer)\s+)+", re.IGNORECASE
            ),
            fillers=Pattern(
                r"(?<=\s)(?:también|ahora|actualmente|realmente|mucho|muy|siempre|hola|todavía)(?=\s)", re.IGNORECASE
            ),
            rules=_RULES,
            owned=Pattern(r"(?:mis?|nuestr[oa]s?)\s+(?P<noun>\w+)\s+(?P<rest>.+)", re.IGNORECASE),
            owned_rules=_OWNED_RULES,
            relations=_RELATIONS,
        )
