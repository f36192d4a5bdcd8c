"""Commands that write: messages, and facts by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.errors import InvalidInput
from commonplace.domain.results import Added
from commonplace.domain.values import Fact
from commonplace.interfaces.cli.opening import object_of, open_memory, text_of
from commonplace.interfaces.cli.options import OfSession, OfUser
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import local_now, parse_when

if TYPE_CHECKING:
    from commonplace import Memory
    from commonplace.interfaces.cli.screen import Screen

Words = Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it from stdin.")]
NewWords = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The new wording; - reads it from stdin.")]
FactId = Annotated[str, typer.Argument(metavar="FACT", help="The id of a fact.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the history.")]
Undo = Annotated[bool, typer.Option("--undo", help="Believe a retracted fact again.")]
Metadata = Annotated[str | None, typer.Option(metavar="JSON", help='Metadata: {"topic": "work"}.')]
Expiry = Annotated[str | None, typer.Option(metavar="WHEN", help="Not returned from then on.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """How something was said."""

    role: Annotated[str, typer.Option(help="user, assistant, system or tool.")] = "user"
    name: Annotated[str | None, typer.Option(help="Who spoke.")] = None
    at: Annotated[str | None, typer.Option(metavar="WHEN", help="When it was said. Without it: now.")] = None
    id: Annotated[str | None, typer.Option(help="The message's id. The same id twice is one message.")] = None
    agent: Annotated[str | None, typer.Option(help="The agent that was spoken to.")] = None
    metadata: Metadata = None
    expires_at: Expiry = None
    attach: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="A file that goes with it; repeatable.")] = (
        None
    )
    caption: Annotated[list[str] | None, typer.Option(help="What a file shows: the first for the first.")] = None

    def attachments(self) -> list[dict[str, Path | str]]:
        """Return the files with their captions. Raises InvalidInput for a caption without a file."""
        files, captions = self.attach or [], self.caption or []
        if len(captions) > len(files):
            raise InvalidInput(f"--caption: {len(captions)} captions for {len(files)} files; expected at most one each")
        return [{"path": file, "caption": said} for file, said in zip_longest(files, captions, fillvalue="") if file]


def add(
    call: OfSession,
    text: Words,
    saying: Saying,
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn facts from it.")] = True,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it has been learned from.")] = False,
) -> None:
    """Keep what was said, and learn from it."""
    output, now = Output(call), local_now()
    message = {
        "role": saying.role,
        "content": text_of(text),
        "name": saying.name,
        "id": saying.id,
        "at": parse_when(saying.at, name="--at", now=now),
        "metadata": object_of(saying.metadata, name="--metadata"),
        "expires_at": parse_when(saying.expires_at, name="--expires-at", now=now),
    }
    with open_memory(call) as memory:
        added = memory.add(
            message,
            user=call.user,
            session=call.session,
            agent=saying.agent,
            learn=learn,
            wait=wait,
            attachments=saying.attachments(),
        )
        texts = _texts(memory, added, user=call.user)
    output.answer(added, lambda screen: _tell_added(screen, added, texts))
    for note in added.notes:
        output.note(note)


def _texts(memory: "Memory", added: Added, *, user: str | None) -> Mapping[str, str]:
    return {change.fact: memory.history(change.fact, user=user)[-1].fact.text for change in added.changes}


def _tell_added(screen: "Screen", added: Added, texts: Mapping[str, str]) -> None:
    screen.say(f"Kept {', '.join(added.messages)}.")
    if added.changes:
        screen.entries((change.change, texts[change.fact], [change.fact]) for change in added.changes)
    if added.pending:
        screen.say(f"Still to be learned from: {added.pending}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stating:
    """What is said about a fact."""

    kind: Annotated[str, typer.Option(help="fact, preference, semantic or context.")] = "fact"
    importance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5
    confidence: Annotated[float, typer.Option(help="From 0 to 1.")] = 1.0
    valid_from: Annotated[str | None, typer.Option(metavar="WHEN", help="True from then on.")] = None
    valid_to: Annotated[str | None, typer.Option(metavar="WHEN", help="True until then.")] = None
    metadata: Metadata = None
    expires_at: Expiry = None


def remember(call: OfUser, text: Words, stating: Stating) -> None:
    """Write a fact by hand."""
    now = local_now()
    with open_memory(call) as memory:
        fact = memory.remember(
            text_of(text),
            user=call.user,
            kind=stating.kind,
            importance=stating.importance,
            confidence=stating.confidence,
            valid_from=parse_when(stating.valid_from, name="--valid-from", now=now),
            valid_to=parse_when(stating.valid_to, name="--valid-to", now=now),
            expires_at=parse_when(stating.expires_at, name="--expires-at", now=now),
            metadata=object_of(stating.metadata, name="--metadata"),
        )
    _answer(call, "Remembered", fact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revising:
    """What is to be different beside the wording."""

    metadata: Annotated[
        str | None, typer.Option(metavar="JSON", help="Laid over what it has; null takes a key away.")
    ] = None
    expires_at: Annotated[str | None, typer.Option(metavar="WHEN", help="Not returned from then on; or never.")] = None


def revise(call: OfUser, fact: FactId, revising: Revising, text: NewWords = None, reason: Reason = "") -> None:
    """Give a fact another wording, metadata or expiry. How it was stays in its history."""
    ends = revising.expires_at
    with open_memory(call) as memory:
        revised = memory.revise(
            fact,
            None if text is None else text_of(text),
            user=call.user,
            metadata=object_of(revising.metadata, name="--metadata"),
            expires_at=ends if ends == "never" else parse_when(ends, name="--expires-at", now=local_now()),
            reason=reason,
        )
    _answer(call, "Revised", revised)


def retract(call: OfUser, fact: FactId, reason: Reason = "", undo: Undo = False) -> None:
    """Stop believing a fact. It stays in its history, and --undo brings it back."""
    with open_memory(call) as memory:
        changed = (memory.restore if undo else memory.retract)(fact, user=call.user, reason=reason)
    _answer(call, "Restored" if undo else "Retracted", changed)


def _answer(call: OfUser, done: str, fact: Fact) -> None:
    Output(call).answer(fact, lambda screen: screen.say(f"{done} {fact.id}: {fact.text}"))
