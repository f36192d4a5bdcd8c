"""What tidying up means for facts: the same statement twice becomes one, and what was said often matters more."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.domain.attributes import attribute_named
from commonplace.domain.values import Fact, FactChange, FactId, Source
from commonplace.learning.draft import Draft
from commonplace.ports.ledger import ClosedVersion, Reinforced

REASON, TOO = "the same as another fact", "another fact said it, too"
AGAIN, MOST = 0.05, 0.95
"""What each further message that says it adds to a learned fact's importance, and where that ends."""


def duplicates(facts: Sequence[Fact]) -> list[Sequence[Fact]]:
    """Return the groups of facts that say the same of the same time, each with the one that stays first."""
    groups: dict[object, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(_key(fact), []).append(fact)
    return [group for group in groups.values() if len(group) > 1]


def _key(fact: Fact) -> object:
    words = " ".join(fact.text.casefold().split()).rstrip(".! ")
    held = (fact.valid_from, fact.valid_to, fact.expires_at)
    return fact.subject, fact.kind, words, held, json.dumps(dict(fact.metadata), sort_keys=True)


def merged(group: Sequence[Fact], sources: Mapping[FactId, Sequence[Source]], *, now: datetime) -> Draft:
    """Return what makes one fact of a group: the first stays, with the sources of the others; they are retracted."""
    kept, *others = group
    sure = Reinforced(fact=kept.id, version=kept.version, confidence=max(one.confidence for one in group))
    return Draft(
        closed=tuple(
            ClosedVersion(fact=one.id, version=one.version, retracted_at=now, replaced_by=kept.id) for one in others
        ),
        reinforced=(sure,),
        sources=tuple(replace(source, fact=kept.id) for one in others for source in sources.get(one.id, ())),
        history=(
            *(
                FactChange(fact=one.id, version=one.version, change="retracted", at=now, reason=REASON)
                for one in others
            ),
            FactChange(fact=kept.id, version=kept.version, change="reinforced", at=now, reason=TOO),
        ),
    )


def reweighed(facts: Sequence[Fact]) -> list[Reinforced]:
    """Return the learned facts whose importance is behind what their sources say. It is only ever raised."""
    found: list[Reinforced] = []
    for fact in facts:
        said = len(fact.sources)
        if not fact.extractor or said < 2:
            continue
        wanted = round(min(MOST, attribute_named(fact.attribute).importance + AGAIN * (said - 1)), 3)
        if wanted > fact.importance + 1e-6:
            found.append(Reinforced(fact=fact.id, version=fact.version, confidence=fact.confidence, importance=wanted))
    return found
