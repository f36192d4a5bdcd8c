"""`commonplace demo`: the story that must always work, told twice and checked: once as it comes, once all by Chroma."""

import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from commonplace.domain.values import FactId, FactKind
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import local_now

if TYPE_CHECKING:
    from datetime import datetime

    from commonplace import Memory
    from commonplace.interfaces.cli.screen import Screen

USER = "u1"
TOLD = "I use Shram and Magnet as productivity tools"
CHANGED = "I don't use Magnet anymore"
ASKED = "What productivity tools do I use?"
TOOLS = ("Shram", "Magnet")
PATIENCE = 30.0
"""Seconds until everything must have been delivered to Chroma."""


@dataclass(frozen=True, slots=True)
class Step:
    did: str
    answer: str
    expected: str

    @property
    def right(self) -> bool:
        return self.answer == self.expected


@dataclass(frozen=True, slots=True)
class Telling:
    title: str
    steps: list[Step] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


def demo(call: Everywhere) -> int:
    """Tell the story: it learns, recalls, changes its mind.

    It works in a temporary folder, checks its own answers, and fails if one is wrong.
    """
    output, tellings = Output(call), []
    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as folder:
        for index, title in (("auto", "As it comes"), ("chroma", "Once more, and Chroma answers everything")):
            here = replace(call, home=Path(folder, index))
            with open_memory(here, index=index, learn=True) as memory:
                telling = _tell_story(memory, title)
                if index == "chroma":
                    telling.steps.append(_collection(memory))
            tellings.append(telling)
    output.answer(_as_value(tellings), lambda screen: _show(screen, tellings))
    for note in sorted({note for telling in tellings for note in telling.notes}):
        output.note(note)
    return Exit.OK if all(step.right for telling in tellings for step in telling.steps) else Exit.NO


def _tell_story(memory: "Memory", title: str) -> Telling:
    telling = Telling(title)
    both, yesterday = ", ".join(TOOLS), local_now() - timedelta(days=1)

    def add(text: str, message: str, expected: str, *, session: str) -> Mapping[FactId, str]:
        added = memory.add({"role": "user", "content": text, "id": message}, user=USER, session=session)
        texts = {change.fact: memory.history(change.fact, user=USER)[-1].fact.text for change in added.changes}
        changes = " and ".join(dict.fromkeys(change.change for change in added.changes))
        telling.steps.append(Step(f'add     "{text}"', f"{changes} {_tools(texts.values())}", expected))
        return texts

    def recall(why: str, expected: str, *, valid_at: "datetime | None" = None) -> None:
        found = memory.recall(ASKED, user=USER, valid_at=valid_at, kinds=get_args(FactKind))
        telling.notes.update(found.notes)
        telling.steps.append(Step(f'recall  "{ASKED}"{why}', _tools(item.text for item in found), expected))

    learned = add(TOLD, "m1", f"learned {both}", session="s1")
    recall("  (a new conversation)", both)
    add(CHANGED, "m2", "ended Magnet", session="s2")
    recall("", "Shram")
    recall("  valid at: yesterday", both, valid_at=yesterday)
    told = "; ".join(_life(memory, fact) for fact, text in learned.items() if "Magnet" in text)
    telling.steps.append(Step("history of the Magnet fact", told, "learned from m1, ended by m2"))
    return telling


def _tools(texts: Iterable[str]) -> str:
    """Return the tools that are named in what was found."""
    said = " ".join(texts)
    return ", ".join(tool for tool in TOOLS if tool in said) or "nothing"


def _life(memory: "Memory", fact: str) -> str:
    changes = [change for version in memory.history(fact, user=USER) for change in version.changes]
    words = {"learned": "learned from", "ended": "ended by"}
    return ", ".join(f"{words.get(change.change, change.change)} {change.message}" for change in changes)


def _collection(memory: "Memory") -> Step:
    """Wait until Chroma has been given everything, and say what it holds."""
    until = time.monotonic() + PATIENCE
    while any(part.waiting for part in memory.stats().partitions) and time.monotonic() < until:
        time.sleep(0.05)
    stats = memory.stats()
    answered = [f"{part.user} is answered by {part.answered_by}" for part in stats.partitions]
    held = [f"a collection of {count} vectors" for count in stats.collections.values()]
    # The doctor asks Chroma what it holds, row by row, and compares it with the ledger.
    agreed = [finding.message for finding in memory.doctor().findings] or ["Chroma and the ledger agree"]
    # Two messages and two facts; the version of the Magnet fact that is past is not in the index any more.
    expected = f"{USER} is answered by chroma; a collection of 4 vectors; Chroma and the ledger agree"
    return Step("the collection", "; ".join([*answered, *held, *agreed]), expected)


def _as_value(tellings: list[Telling]) -> list[dict[str, object]]:
    return [
        {
            "title": telling.title,
            "steps": [
                {"did": step.did, "answer": step.answer, "expected": step.expected, "right": step.right}
                for step in telling.steps
            ],
        }
        for telling in tellings
    ]


def _show(screen: "Screen", tellings: list[Telling]) -> None:
    for telling in tellings:
        screen.say(telling.title, style="bold")
        for step in telling.steps:
            screen.say(f"  {step.did}")
            if step.right:
                screen.say(f"      -> {step.answer}", style="green")
            else:
                screen.say(f"      -> {step.answer}   (wrong: expected {step.expected})", style="red")
        screen.say()
