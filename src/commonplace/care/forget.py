"""What forgetting messages means for facts: they go, they lose a source, or they get back what a message had changed.

A fact that others have said, too, keeps only words that those others said. Nothing here reads or writes a store.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from commonplace.domain.values import Fact, FactChange, FactId, FactVersion, Message, MessageId, Source
from commonplace.ports.erasure import Reopened, Reworded

REASON = "what had changed it was forgotten"
WORD = re.compile(r"\w+")
BY_HAND = {"remembered", "reinforced"}


@dataclass(frozen=True, slots=True)
class Trail:
    """A fact with all that is known about where it came from: every version, oldest first, and every source."""

    versions: Sequence[FactVersion]
    sources: Sequence[Source]

    @property
    def fact(self) -> Fact:
        """The latest version."""
        return self.versions[-1].fact

    @property
    def changes(self) -> Iterator[tuple[Fact, FactChange]]:
        return ((version.fact, change) for version in self.versions for change in version.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The messages that go, and the moment before which facts written by hand go with them."""

    messages: Mapping[MessageId, Message]
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequences:
    facts: tuple[FactId, ...] = ()
    """Facts that go."""
    reworded: tuple[Reworded, ...] = ()
    reopened: tuple[Reopened, ...] = ()
    stripped: tuple[FactId, ...] = ()
    quotes: frozenset[str] = field(default=frozenset())
    """Words that may be quoted in the reasons of other facts, and must not stay there."""


def consequences(trails: Sequence[Trail], forgotten: Forgotten, *, kept: Mapping[MessageId, Message]) -> Consequences:
    """Return what becomes of the facts. `kept` has every message that stays and taught one of them."""
    gone: list[Trail] = []
    reworded: list[Reworded] = []
    reopened: list[Reopened] = []
    quotes: set[str] = set()
    for trail in trails:
        support = _support(trail, forgotten, kept)
        clean = _clean(trail, forgotten, support) if support else ()
        if not clean:
            gone.append(trail)
            continue
        changes = _reworded(trail, clean)
        reworded += changes
        reopened += _reopened(trail, forgotten, {one.version: one.like for one in changes})
        quotes |= {words for version in trail.versions if version.fact.version not in clean for words in _said(version)}
    left = [trail for trail in trails if trail not in gone]
    return Consequences(
        facts=tuple(trail.fact.id for trail in gone),
        reworded=tuple(reworded),
        reopened=tuple(reopened),
        stripped=tuple(trail.fact.id for trail in left if _stamped_by(trail, forgotten)),
        quotes=frozenset(quotes | quotes_of(gone)),
    )


def quotes_of(trails: Iterable[Trail]) -> frozenset[str]:
    return frozenset(words for trail in trails for version in trail.versions for words in _said(version))


def _said(version: FactVersion) -> Iterator[str]:
    return (words for words in (version.fact.text, version.fact.value) if words)


def _support(trail: Trail, forgotten: Forgotten, kept: Mapping[MessageId, Message]) -> Sequence[str]:
    """Return the words that still speak for a fact: of messages that stay, and of whoever wrote it by hand."""
    said = [kept[one.message].text for one in trail.sources if one.role == "said" and one.message in kept]
    by_hand = [
        f"{fact.text} {fact.value} {fact.subject}"
        for fact, change in trail.changes
        if change.message is None
        and change.change in BY_HAND
        and (forgotten.before is None or change.at >= forgotten.before)
    ]
    return [*said, *by_hand]


def _clean(trail: Trail, forgotten: Forgotten, support: Sequence[str]) -> Sequence[int]:
    """Return the versions that use no word which only forgotten messages said."""
    involved = {one.message for one in trail.sources} | {change.message for _, change in trail.changes}
    lost = _words(one.text for id_, one in forgotten.messages.items() if id_ in involved)
    lost -= _words(support)
    used = {version.fact.version: _words([*_said(version), version.fact.subject]) for version in trail.versions}
    return [version for version, words in used.items() if not words & lost]


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text.casefold())}


def _reworded(trail: Trail, clean: Sequence[int]) -> list[Reworded]:
    """Give each version that cannot keep its words those of the last one before it that can, or else of the first."""
    unclean = (version.fact for version in trail.versions if version.fact.version not in clean)
    return [
        Reworded(
            fact=fact.id,
            version=fact.version,
            like=max((one for one in clean if one < fact.version), default=clean[0]),
        )
        for fact in unclean
    ]


def _reopened(trail: Trail, forgotten: Forgotten, likes: Mapping[int, int]) -> list[Reopened]:
    """Return a next version, if without the forgotten messages the fact would stand otherwise than it does."""
    latest, without = trail.fact, _without(trail, forgotten)
    retracted = latest.retracted_at is not None
    if retracted and not _retracted_by(trail, forgotten):
        return []
    stands = (latest.valid_from, latest.valid_to, latest.importance, _words([latest.text]))
    if not retracted and stands == (without.valid_from, without.valid_to, without.importance, _words([without.text])):
        return []
    return [
        Reopened(
            fact=latest.id,
            version=latest.version + 1,
            like=likes.get(without.version, without.version),
            valid_from=without.valid_from,
            valid_to=without.valid_to,
            importance=without.importance,
            replaced_by=without.replaced_by,
            change="restored" if retracted else "revised",
            reason=REASON,
        )
    ]


@dataclass(slots=True)
class _State:
    version: int
    """Where its words are from."""
    text: str
    valid_from: datetime | None
    valid_to: datetime | None
    importance: float
    replaced_by: FactId | None


def _without(trail: Trail, forgotten: Forgotten) -> _State:
    """Take every change again but those that only forgotten messages made."""
    first = trail.versions[0].fact
    state = _State(first.version, first.text, first.valid_from, first.valid_to, first.importance, first.replaced_by)
    for before, version in pairwise(trail.versions):
        old, new = before.fact, version.fact
        if _made_by(version, forgotten):
            continue
        if new.text != old.text:
            state.version, state.text = new.version, new.text
        if new.valid_from != old.valid_from:
            state.valid_from = new.valid_from
        if (new.valid_to, new.replaced_by) != (old.valid_to, old.replaced_by):
            state.valid_to, state.replaced_by = new.valid_to, new.replaced_by
        if new.importance != old.importance:
            state.importance = new.importance
    return state


def _made_by(version: FactVersion, forgotten: Forgotten) -> bool:
    """Tell whether forgotten messages alone brought this version about."""
    makers = [one.message for one in version.changes if one.change not in ("reinforced", "retracted")]
    return bool(makers) and all(maker in forgotten.messages for maker in makers)


def _retracted_by(trail: Trail, forgotten: Forgotten) -> bool:
    last = [one.message for one in trail.versions[-1].changes if one.change == "retracted"]
    return bool(last) and last[-1] in forgotten.messages


def _stamped_by(trail: Trail, forgotten: Forgotten) -> bool:
    """Tell whether the fact took its metadata and its expiry from a message that goes."""
    teachers = [change.message for _, change in trail.changes if change.change == "learned"]
    return bool(teachers) and teachers[0] in forgotten.messages
