"""Several findings that say one thing become one result: the same words twice, or a fact and the message it came from.

A fact stands for its message only where it says nearly as much; else the message may hold the answer, and both are
shown. A message of which something no longer holds is never folded: it is shown with what has changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from commonplace.domain.results import Folded
from commonplace.domain.values import Recalled
from commonplace.recall.terms import analyse

ENOUGH = 0.6
"""The share of a message's words that the facts found beside it must have to stand for it.

With less, a fact could hide most of what was said. From 0.4 on no figure of recall depends on it: docs/decisions/0012.
"""
AS_WELL = 0.5
"""The share of the relevance of the first of these facts that another must have to answer as well as it does."""


def fold(items: Sequence[Recalled], *, language: str) -> tuple[list[Recalled], list[Folded]]:
    """Return the results, each at the place of the first of its findings, and what they stand for."""
    folded = _twice(items)
    gone = {one.id for one in folded}
    folded += _stood_for([item for item in items if item.id not in gone], language=language)
    if not folded:
        return list(items), []
    into = {one.id: one for one in folded}
    heads = {item.id: item for item in items if item.id not in into}
    groups: dict[str, list[Recalled]] = {}
    for item in items:
        head = _head(item.id, into)
        for one in (head, *_answering_too(item, heads[head], heads.values())):
            groups.setdefault(one, []).append(item)
    return [_merged(heads[head], found, into) for head, found in groups.items()], folded


def _answering_too(item: Recalled, head: Recalled, results: Iterable[Recalled]) -> Iterator[str]:
    """Yield the other facts of a message that is stood for which answer as well as the first: "Shram and Magnet"."""
    if item.kind != "message" or head.kind == "message":
        return
    for other in results:
        if other is not head and item.id in other.sources and other.relevance >= AS_WELL * head.relevance:
            yield other.id


def _head(item: str, into: Mapping[str, Folded]) -> str:
    while item in into:
        item = into[item].into
    return item


def _twice(items: Sequence[Recalled]) -> list[Folded]:
    first: dict[tuple[object, ...], str] = {}
    keys = [(item.kind, item.role, item.name, item.note, " ".join(item.text.casefold().split())) for item in items]
    heads = [first.setdefault(key, item.id) for key, item in zip(keys, items, strict=True)]
    return [Folded(item.id, head, "duplicate") for item, head in zip(items, heads, strict=True) if head != item.id]


def _stood_for(items: Sequence[Recalled], *, language: str) -> list[Folded]:
    facts: dict[str, list[Recalled]] = {}
    for item in items:
        for source in item.sources if item.kind not in ("message", "summary") else ():
            facts.setdefault(source, []).append(item)
    return [
        Folded(item.id, facts[item.id][0].id, "stood for")
        for item in items
        if item.kind == "message"
        and item.id in facts
        and item.note is None
        and covered(item.text, [fact.text for fact in facts[item.id]], language=language) >= ENOUGH
    ]


def covered(text: str, facts: Sequence[str], *, language: str) -> float:
    """Return which share of the words of a text the facts have."""
    words = analyse(text, language=language).keys()
    known = {term for fact in facts for term in analyse(fact, language=language)}
    return len(words & known) / max(1, len(words))


def _merged(head: Recalled, found: Sequence[Recalled], into: Mapping[str, Folded]) -> Recalled:
    if len(found) == 1 and found[0] is head:
        return head
    said = [item.passage or item.text for item in found if item.id in into and into[item.id].how == "stood for"]
    return replace(
        head,
        score=max(item.score for item in found),
        relevance=max(item.relevance for item in found),
        sources=tuple(dict.fromkeys(source for item in (head, *found) for source in item.sources)),
        said=said[0] if said else head.said,
    )
