"""English verb forms: a small table of irregular verbs, and rules for all others."""

from functools import cache
from typing import Literal

from commonplace.adapters.rules.wordsets import word_set

Form = Literal["base", "third", "past", "participle", "gerund"]

_IRREGULAR = """
be is was been being; bear bears bore borne bearing; become becomes became become becoming;
begin begins began begun beginning; break breaks broke broken breaking; bring brings brought brought bringing;
build builds built built building; burn burns burnt burnt burning; buy buys bought bought buying;
choose chooses chose chosen choosing; come comes came come coming; cut cuts cut cut cutting;
die dies died died dying; do does did done doing; draw draws drew drawn drawing;
dream dreams dreamt dreamt dreaming; drink drinks drank drunk drinking; drive drives drove driven driving;
eat eats ate eaten eating; feel feels felt felt feeling; find finds found found finding;
fly flies flew flown flying; forget forgets forgot forgotten forgetting; get gets got gotten getting;
give gives gave given giving; go goes went gone going; grow grows grew grown growing; have has had had having;
hear hears heard heard hearing; hit hits hit hit hitting; hold holds held held holding;
hurt hurts hurt hurt hurting; keep keeps kept kept keeping; knit knits knit knit knitting;
know knows knew known knowing; lead leads led led leading; leave leaves left left leaving;
let lets let let letting; lie lies lay lain lying; lose loses lost lost losing; make makes made made making;
meet meets met met meeting; pay pays paid paid paying; put puts put put putting; quit quits quit quit quitting;
read reads read read reading; ride rides rode ridden riding; run runs ran run running;
say says said said saying; see sees saw seen seeing; sell sells sold sold selling;
send sends sent sent sending; set sets set set setting; shoot shoots shot shot shooting;
sing sings sang sung singing; sit sits sat sat sitting; ski skis skied skied skiing;
sleep sleeps slept slept sleeping; speak speaks spoke spoken speaking; spend spends spent spent spending;
split splits split split splitting; stand stands stood stood standing; swear swears swore sworn swearing;
swim swims swam swum swimming; take takes took taken taking; teach teaches taught taught teaching;
tell tells told told telling; think thinks thought thought thinking; throw throws threw thrown throwing;
tie ties tied tied tying; understand understands understood understood understanding;
wake wakes woke woken waking; wear wears wore worn wearing; win wins won won winning;
write writes wrote written writing;
"""
_DOUBLED = word_set(
    "stop swap plan program quit jog dig hop shop drop step travel cancel blog vlog knit swim run get cut put set let"
    " hit sit begin chat tap rap ban nap pet rub dub strum prefer refer transfer skip log"
)
_VOWELS = frozenset("aeiou")
_KEPT_DOUBLE = frozenset("lszeo")


@cache
def _tables() -> tuple[dict[str, dict[Form, str]], dict[str, tuple[str, Form]]]:
    by_base: dict[str, dict[Form, str]] = {}
    by_form: dict[str, tuple[str, Form]] = {}
    for row in _IRREGULAR.replace("\n", " ").split(";"):
        if not row.strip():
            continue
        base, third, past, participle, gerund = row.split()
        by_base[base] = {"base": base, "third": third, "past": past, "participle": participle, "gerund": gerund}
        for form, word in reversed(by_base[base].items()):
            by_form[word] = (base, form)
    for word in ("am", "are", "'s"):
        by_form[word] = ("be", "base")
    by_form["were"] = ("be", "past")
    by_form["dreamed"] = ("dream", "past")
    by_form["burned"] = ("burn", "past")
    return by_base, by_form


def inflect(base: str, form: Form) -> str:
    """Return one form of a verb: inflect("use", "gerund") is "using"."""
    irregular = _tables()[0].get(base)
    if irregular is not None:
        return irregular[form]
    if form == "base":
        return base
    if form == "third":
        return _third(base)
    return _lengthen(base, "ing" if form == "gerund" else "ed")


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _lengthen(base: str, ending: str) -> str:
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + ending
    if base in _DOUBLED:
        return base + base[-1] + ending
    if base.endswith("y") and base[-2:-1] not in _VOWELS and ending == "ed":
        return base[:-1] + "ied"
    return base + ending


@cache
def _forms_of(lemmas: frozenset[str]) -> dict[str, tuple[str, Form]]:
    table: dict[str, tuple[str, Form]] = {}
    for lemma in sorted(lemmas):
        for form in ("gerund", "past", "third", "base"):
            table[inflect(lemma, form)] = (lemma, form)
    return {**table, **_tables()[1]}


class Verbs:
    """The forms of the verbs that some rule knows."""

    __slots__ = ("_table",)

    def __init__(self, lemmas: frozenset[str]) -> None:
        self._table = _forms_of(lemmas)

    def find(self, word: str) -> tuple[str, Form] | None:
        """Return the verb and the form that a word can be."""
        return self._table.get(word)


def base_of_gerund(word: str) -> str:
    """Guess the verb of an -ing word that no table knows: "kayaking" is "kayak"."""
    known = _tables()[1].get(word)
    if known is not None:
        return known[0]
    stem = word[:-3]
    return stem[:-1] if stem[-1:] == stem[-2:-1] and stem[-1:] not in _KEPT_DOUBLE else stem
