"""The Extractor that needs no model: rules of grammar, in well under a millisecond, never raising over what a user
wrote."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.adapters.rules.corrections import correction, is_elliptic
from commonplace.adapters.rules.english import English
from commonplace.adapters.rules.german import German
from commonplace.adapters.rules.language import Language, Statement
from commonplace.adapters.rules.sentences import own_words, plain, sentences
from commonplace.adapters.rules.spanish import Spanish
from commonplace.domain.attributes import attribute_named
from commonplace.domain.claims import Claim, Standing
from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Message
from commonplace.ports.extractor import Extraction, Said

_LANGUAGES: dict[str, type[English] | type[German] | type[Spanish]] = {"en": English, "de": German, "es": Spanish}
_STATES_OF_CHANGE = frozenset({"event", "visited", "plans", "wants", "goal"})


class RuleExtractor:
    """Reads claims out of what users write, by rules.

    Languages are tried in order; the first that finds something wins.
    """

    def __init__(self, languages: Sequence[str] = ("en", "de", "es")) -> None:
        unknown = [code for code in languages if code not in _LANGUAGES]
        if unknown:
            raise InvalidInput(f"languages={tuple(languages)!r}: expected some of {', '.join(_LANGUAGES)}")
        self._languages: tuple[Language, ...] = tuple(_LANGUAGES[code]() for code in languages)

    @property
    def inline(self) -> bool:
        return True

    @property
    def identity(self) -> str:
        return "rules/1"

    def looks_back(self, message: Message) -> bool:
        return is_elliptic(plain(message.text[:200]))

    async def extract(self, said: Said) -> Extraction:
        return Extraction(claims=self.claims(said.message, before=said.before))

    def claims(self, message: Message, *, before: Sequence[Message] = ()) -> tuple[Claim, ...]:
        """The same without waiting: reading is pure computation. Only a user's words are read."""
        if message.role != "user":
            return ()
        claims = self._of_message(message)
        own = self._corrected_at_once(message) if claims else None
        if own is not None:
            return (*claims, own)
        if claims or not before:
            return claims
        corrected = correction(plain(message.text[:200]), before, self._of_message)
        return (corrected,) if corrected is not None else ()

    def _corrected_at_once(self, message: Message) -> Claim | None:
        """ "I was born in 1988. Scratch that, 1989." """
        text = plain(message.text[:4_000])
        *earlier, last = sentences(text)
        starts = [one.start for one in [*earlier, last] if one.start and is_elliptic(text[one.start :])]
        if not starts:
            return None
        before = replace(message, text=text[: starts[0]])
        claim = correction(text[starts[0] :], [before], self._of_message)
        return None if claim is None else replace(claim, start=claim.start + starts[0], stop=claim.stop + starts[0])

    def _of_message(self, message: Message) -> tuple[Claim, ...]:
        text: str | None = None
        for language in self._languages:
            if not language.concerns(message.text[:4_000]):
                continue
            text = own_words(plain(message.text[:4_001])) if text is None else text
            reading = language.read(text, message.at)
            if reading.statements or reading.planted:
                return _distinct([_claim(statement) for statement in reading.statements if _says_something(statement)])
        return ()


def _says_something(statement: Statement) -> bool:
    """Only an ending may leave its value open."""
    return bool(statement.finding.value) or statement.finding.standing == "ended"


def _claim(statement: Statement) -> Claim:
    finding = statement.finding
    row = attribute_named(finding.attribute)
    standing: Standing = finding.standing
    if (
        standing == "holds"
        and row.single
        and (statement.corrects or statement.contrasted)
        and finding.attribute not in _STATES_OF_CHANGE
    ):
        standing = "corrects"
    confidence = finding.confidence if finding.who.is_user else min(finding.confidence, 0.85)
    return Claim(
        text=_askable(finding.text, finding.attribute),
        subject=finding.who.key,
        attribute=finding.attribute,
        value=finding.value,
        standing=standing,
        kind=row.kind,
        confidence=0.95 if standing == "corrects" else confidence,
        importance=min(1.0, round(_weight(row.importance, finding.who.is_user) + finding.importance, 2)),
        valid_from=statement.valid_from,
        valid_to=statement.valid_to,
        start=finding.start,
        stop=finding.stop,
        follows=finding.follows,
    )


def _askable(text: str, attribute: str) -> str:
    """Say a name with the word that people ask for it with: "What is my name?"."""
    return text.replace(" is called ", "'s name is ", 1) if attribute == "name" else text


def _weight(importance: float, about_user: bool) -> float:
    """What is so of someone else matters less than what is so of the user."""
    return importance if about_user else importance * 0.75


def _distinct(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Two wordings of one claim in a message are one claim."""
    kept: dict[tuple[str, str, str, Standing], Claim] = {}
    for claim in claims:
        kept.setdefault((claim.subject, claim.attribute, claim.value.casefold(), claim.standing), claim)
    return tuple(kept.values())
