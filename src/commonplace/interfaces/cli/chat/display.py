"""What a chat shows: to a person in colours and with discreet notes, to a program one JSON object a line."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Protocol

from commonplace.agents.telling import Told
from commonplace.agents.turns import Turn
from commonplace.domain.plain import as_json
from commonplace.domain.values import Recalled
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.screen import Screen

SIGNS = {"ended": "−", "replaced": "−", "retracted": "−"}
REMEMBERED = 3
"""Recalled things that are named in the note above a reply."""
WIDEST = 70


class Display(Protocol):
    person: bool

    def opening(self, *, session: str, model: str | None, note: str, resumed: Sequence[str]) -> None: ...

    def remembered(self, items: Sequence[Recalled]) -> None: ...

    def words(self, text: str) -> None: ...

    def ended(self, turn: Turn, told: Sequence[Told]) -> None: ...

    def learned(self, told: Sequence[Told], notes: Sequence[str]) -> None: ...

    def failed(self, kind: str, message: str) -> None: ...

    def answer(self, command: str, value: object, lines: Iterable[str]) -> None:
        """Show what a command returned: the value to a program, the lines to a person."""
        ...

    def note(self, text: str) -> None: ...


def display_for(call: Everywhere, *, person: bool) -> Display:
    return Machine() if call.json else Person(Screen(color=not call.no_color), person=person, quiet=call.quiet)


class Person:
    def __init__(self, screen: Screen, *, person: bool, quiet: bool) -> None:
        self._screen, self.person, self._quiet = screen, person, quiet
        self._speaking = False

    def opening(self, *, session: str, model: str | None, note: str, resumed: Sequence[str]) -> None:
        if not self.person or self._quiet:
            if note and not self._quiet:
                self._dim(note)
            return
        self._dim(f"session {session}, {model or 'no model'}. /help lists the commands, /quit leaves.")
        if note:
            self._screen.say(note, style="yellow")
        for line in resumed:
            self._dim(line)

    def remembered(self, items: Sequence[Recalled]) -> None:
        if not items or self._quiet or not self.person:
            return
        named = "; ".join(_short(item.text) for item in items[:REMEMBERED])
        more = f" (+{len(items) - REMEMBERED})" if len(items) > REMEMBERED else ""
        self._dim(f"  · remembered: {named}{more}")

    def words(self, text: str) -> None:
        self._speaking = True
        self._screen.stream(text, style="green" if self.person else "")

    def ended(self, turn: Turn, told: Sequence[Told]) -> None:
        self._fall_silent()
        self.learned(told, turn.notes)
        for fact in turn.forgotten:
            self._dim(f"  · forgot {fact}")
        for name in turn.blocks:
            self._dim(f"  · wrote block {name}")

    def learned(self, told: Sequence[Told], notes: Sequence[str]) -> None:
        if self._quiet or not self.person:
            return
        for one in told:
            self._dim(f"  {SIGNS.get(one.change, '+')} {one.change}: {_short(one.text)}")
        for note in dict.fromkeys(notes):
            self._screen.say(f"  ! {note}", style="yellow")

    def failed(self, kind: str, message: str) -> None:
        self._fall_silent()
        self._screen.say(f"{message or kind}", style="red")

    def answer(self, command: str, value: object, lines: Iterable[str]) -> None:
        for line in lines:
            self._screen.say(line)

    def note(self, text: str) -> None:
        self._fall_silent()
        if not self._quiet:
            self._dim(text)

    def _dim(self, text: str) -> None:
        self._screen.say(text, style="dim")

    def _fall_silent(self) -> None:
        if self._speaking:
            self._screen.say()
        self._speaking = False


class Machine:
    person = False

    def opening(self, *, session: str, model: str | None, note: str, resumed: Sequence[str]) -> None:
        self._line({"session": session, "model": model, "note": note})

    def remembered(self, items: Sequence[Recalled]) -> None:
        return

    def words(self, text: str) -> None:
        return

    def ended(self, turn: Turn, told: Sequence[Told]) -> None:
        self._line(
            {
                "reply": turn.reply,
                "session": turn.session,
                "messages": turn.added.messages,
                "pending": turn.added.pending,
                "remembered": [{"id": one.id, "kind": one.kind, "text": one.text} for one in turn.remembered],
                "changes": [one._asdict() for one in told],
                "forgotten": turn.forgotten,
                "blocks": turn.blocks,
                "notes": turn.notes,
                "usage": turn.usage,
            }
        )

    def learned(self, told: Sequence[Told], notes: Sequence[str]) -> None:
        if told or notes:
            self._line({"changes": [one._asdict() for one in told], "notes": list(notes)})

    def failed(self, kind: str, message: str) -> None:
        self._line({"error": kind, "message": message})

    def answer(self, command: str, value: object, lines: Iterable[str]) -> None:
        self._line({"command": command, "result": value})

    def note(self, text: str) -> None:
        self._line({"note": text})

    def _line(self, value: object) -> None:
        text = json.dumps(as_json(value), ensure_ascii=True)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= WIDEST else f"{plain[: WIDEST - 1]}…"
