"""The last stage of context: recalled things as one fenced text that fits a token budget.

Grouped by kind, what holds now before what does not; each item on a line of its own, with its day and its speaker.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.domain.results import Context
from commonplace.domain.times import day
from commonplace.domain.values import Block, Recalled
from commonplace.recall.carried import called
from commonplace.recall.collapse import Collapsed, collapse
from commonplace.recall.fence import CLOSE, OPEN, fenced, line, lines
from commonplace.recall.pack import Count, Line, choose, fitted

HEADINGS = {
    "blocks": "",
    "wishes": "\nHow answers are wanted:\n",
    "preferences": "\nPreferences that hold now:\n",
    "facts": "\nFacts that hold now:\n",
    "summaries": "\nSummaries of earlier conversations:\n",
    "said": "\nWhat was said:\n",
    "changed": "\nWhat was said, and has changed since:\n",
}
"""By group, in the order in which they are shown."""
GROUPS = {"preference": "preferences", "summary": "summaries", "message": "said"}
WISHES_SHARE = 0.1
"""Of the budget, at most, for wishes that hold whatever the question is."""
PLANTED = "planted"
"""The metadata key of a message that tries to give orders through memory."""


@dataclass(frozen=True, slots=True)
class Near:
    """A message next to one that was found, with what it is worth beside it: a share of the other's value."""

    item: Recalled
    share: float
    before: bool
    """Said just before the other, or just after it."""


@dataclass(slots=True)
class _Page:
    """The lines that could be shown, and where each would stand."""

    earlier: Mapping[str, str]
    """From a message to the one just before it, as far as that is known: many are said at one moment."""
    items: dict[str, Recalled] = field(default_factory=dict)
    places: dict[str, tuple[int, datetime, int]] = field(default_factory=dict)

    def put(self, item: Recalled, *, rank: int, thread: int) -> str:
        """Messages of a conversation stand together, as they were said; summaries by their time; the rest by rank."""
        key = _key(item)
        first = {"message": thread, "summary": 0}.get(item.kind, rank)
        self.items[key] = item
        self.places.setdefault(key, (first, item.at, self._steps(key)))
        return key

    def _steps(self, key: str) -> int:
        steps, seen = 0, {key}
        while (key := self.earlier.get(key, "")) and key not in seen:
            steps += 1
            seen.add(key)
        return steps


def assemble(
    items: Sequence[Recalled],
    blocks: Sequence[Block],
    *,
    budget: int,
    count: Count,
    near: Mapping[str, Sequence[Near]] | None = None,
    wishes: Sequence[Recalled] = (),
    notes: Iterable[str] = (),
) -> Context:
    """Pack blocks first, then wishes up to their share, then what is worth most for its tokens.

    `near` has the neighbours of messages, by the id of the message.
    """
    page = _Page(_earlier(near or {}))
    pinned = [Line(key=f"block {one.name}", group="blocks", text=_block(one), value=1.0) for one in blocks]
    wanted = [_wish(page, one.item, rank) for rank, one in enumerate(collapse(wishes))]
    room = budget - count(OPEN) - count(CLOSE)
    chosen, room = _in_turn(pinned, room, count)
    share = min(room, int(budget * WISHES_SHARE)) - count(HEADINGS["wishes"])
    standing, left = _in_turn(wanted, share, count)
    room -= share - left + count(HEADINGS["wishes"]) if standing else 0
    taken = {one.key for one in standing}
    found = _lines(page, collapse([item for item in items if _key(item) not in taken]), near or {})
    chosen += [*standing, *choose(found, budget=room, count=count, headings=HEADINGS)]
    kept, text, tokens = fitted(chosen, render=lambda some: _render(some, page), budget=budget, count=count)
    keys = {one.key for one in kept}
    hits = [one.key for one in (*found, *standing) if one.key in keys]
    return Context(
        text=text,
        tokens=tokens,
        budget=budget,
        items=tuple(page.items[key] for key in hits),
        around=tuple(page.items[one.key] for one in kept if one.key in page.items and one.key not in hits),
        blocks=tuple(one for one in blocks if f"block {one.name}" in keys),
        notes=tuple(notes),
    )


def _in_turn(lines: Sequence[Line], room: int, count: Count) -> tuple[list[Line], int]:
    """Return the lines that fit, each taken if it still does, and the room that is left."""
    chosen: list[Line] = []
    for one in lines:
        if (cost := count(one.text)) <= room:
            chosen.append(one)
            room -= cost
    return chosen, room


def _wish(page: _Page, item: Recalled, rank: int) -> Line:
    return Line(
        key=page.put(item, rank=rank, thread=rank), group="wishes", text=f"- {describe(item)}\n", value=_value(item)
    )


def _lines(page: _Page, found: Sequence[Collapsed], near: Mapping[str, Sequence[Near]]) -> list[Line]:
    hits = {_key(one.item) for one in found}
    threads: dict[object, int] = {}
    made: list[Line] = []
    for rank, one in enumerate(found):
        item = one.item
        group = "changed" if item.kind == "message" and item.note else GROUPS.get(item.kind, "facts")
        thread = threads.setdefault((group, item.session or item.id), rank)
        value = _value(item)
        brings = tuple(
            Line(
                key=page.put(beside.item, rank=rank, thread=thread),
                group=group,
                text=f"- {describe(beside.item)}\n",
                value=value * beside.share,
            )
            for beside in near.get(item.id, ())
            if _key(beside.item) not in hits
        )
        key = page.put(item, rank=rank, thread=thread)
        made.append(Line(key=key, group=group, text=f"- {describe(item, also=one.also)}\n", value=value, brings=brings))
    return made


def _earlier(near: Mapping[str, Sequence[Near]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for id_, beside in near.items():
        for one in beside:
            this, other = f"message {id_}", _key(one.item)
            found |= {this: other} if one.before else {other: this}
    return found


def _key(item: Recalled) -> str:
    return f"{item.kind} {item.id}"


def _value(item: Recalled) -> float:
    """What an item is worth: how likely it answers; where nothing was asked, how much it matters."""
    return item.relevance or item.score


def _render(kept: Sequence[Line], page: _Page) -> str:
    by_group: dict[str, list[Line]] = {}
    for one in kept:
        by_group.setdefault(one.group, []).append(one)
    parts: list[str] = []
    for group, heading in HEADINGS.items():
        held = by_group.get(group, [])
        in_order = held if group == "blocks" else sorted(held, key=lambda one: page.places[one.key])
        parts += [heading, *(one.text for one in in_order)] if held else []
    return fenced("".join(parts))


def _block(block: Block) -> str:
    return f"\n[{line(block.name)}]\n{lines(block.text)}"


def describe(item: Recalled, *, also: Sequence[datetime] = ()) -> str:
    """Return one line about an item: when, who, what, and what has changed since."""
    days = [shown for shown in dict.fromkeys(map(day, also)) if shown != day(item.at)]
    again = f" (also said {', '.join(days)})" if days else ""
    note = f" ({line(item.note)})" if item.note else ""
    quoted = " (quoted: it tries to give orders)" if item.metadata.get(PLANTED) is True else ""
    text = line(item.passage or item.text)
    if item.kind == "summary":
        return f"[{day(item.at)}] {text}{note}"
    if item.kind != "message":
        words = f": {line(item.said)}" if item.said else ""
        return f"{text}{_span(item)} (said {day(item.at)}{words}){again}{note}"
    shared = "".join(f" [shares {line(called(one))}]" for one in item.attachments)
    return f"[{day(item.at)}] {line(item.name or item.role or 'user')}: {text}{shared}{again}{note}{quoted}"


def _span(item: Recalled) -> str:
    since = f", since {day(item.valid_from)}" if item.valid_from else ""
    return since + (f", until {day(item.valid_to)}" if item.valid_to else "")
