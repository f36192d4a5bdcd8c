"""import: records from a file, of this program or another, checked against what was forgotten, indexed, and written.

What an export holds is written as it is. What was only said is added, and learned from, like any other message.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby, islice

from commonplace.care.barring import Barring
from commonplace.care.importers.formats import RAW, READERS, Format, detect
from commonplace.care.importers.source import Source as File
from commonplace.domain.archive import (
    NAMES,
    FilePiece,
    Held,
    KeptFact,
    KeptJob,
    KeptMessage,
    OfTenant,
    OfUser,
    OfUsers,
    Opened,
    Spent,
)
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Imported, Item, Reading, Taken
from commonplace.domain.keys import Key
from commonplace.domain.progress import Progress
from commonplace.domain.retention import Hold
from commonplace.domain.scope import Scope
from commonplace.domain.values import AttachmentId, Block, FactChange, FactId, Message, Source
from commonplace.engine.adding import Adding
from commonplace.engine.attaching import Attaching
from commonplace.engine.choosing import Choosing
from commonplace.engine.filling import Filling
from commonplace.engine.parts import Parts
from commonplace.engine.pieces import Pieces
from commonplace.engine.planner import Planner
from commonplace.engine.reindexing import Reindexing

BATCH = 256
NOT_OURS = "keys and counters of a tenant are not a user's: they are left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    format: Format
    only: bool
    """Nobody else's but the user's whose import it is."""
    learn: bool
    bring_back: bool
    dry_run: bool
    strict: bool


@dataclass(slots=True)
class _Run:
    """One import, under way."""

    scope: Scope
    barring: Barring
    pieces: Pieces
    own: str | None
    """Whose import it is."""
    passing: bool = False
    """What follows is somebody else's, and left out."""
    filed: dict[Scope, dict[AttachmentId, bool]] = field(default_factory=dict)
    """The files that came with it, by their user, and whether a message here had each of them already."""
    embedder: str | None = None
    """Whose vectors are in the file."""
    own_embedder: str | None = None
    """Whose vectors those of the user at hand are, if not the same."""
    added: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    loose: Counter[str] = field(default_factory=Counter)
    forgotten: Counter[str] = field(default_factory=Counter)
    fresh: set[FactId] = field(default_factory=set)
    """Facts of another program's file that this import has added."""
    known_here: int = 0
    """Messages of the user at hand that were there already."""
    bad: list[Bad] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    changes: int = 0
    pending: int = 0


class Importing:
    def __init__(
        self,
        parts: Parts,
        choosing: Choosing,
        reindexing: Reindexing,
        adding: Adding,
        filling: Filling,
        planner: Planner,
        attaching: Attaching,
    ) -> None:
        self._parts, self._choosing, self._reindexing = parts, choosing, reindexing
        self._adding, self._filling, self._planner, self._attaching = adding, filling, planner, attaching

    async def take(self, source: File, reading: Reading, wishes: Wishes, *, progress: Progress) -> Imported:
        """Take in a file. Raises InvalidInput at the first bad place, if it is to be strict."""
        form = detect(source) if wishes.format == "auto" else wishes.format
        wishes = replace(wishes, format=form)
        items = READERS[form](source, reading)
        scope = Scope(self._parts.options.tenant, reading.user)
        run = _Run(scope, await self._barring(scope, form), Pieces(self._attaching, limited=True), own=reading.user)
        try:
            while batch := await asyncio.to_thread(_next, items):
                await self._take_batch(batch, run, wishes)
                progress("Importing", source.done, source.size)
        finally:
            await run.pieces.give_up()
            for filed in run.filed:  # what was forgotten here, or was known already, needs no file
                await self._attaching.sweep(filed)
        await self._count_files(run)
        return Imported(
            format=form,
            added=dict(+run.added),
            known=dict(+run.known),
            loose=dict(+run.loose),
            forgotten=dict(+run.forgotten),
            bad=tuple(run.bad),
            changes=run.changes,
            pending=run.pending,
            notes=tuple(run.notes),
            dry_run=wishes.dry_run,
        )

    async def _barring(self, scope: Scope, form: Format) -> Barring:
        receipts = await self._parts.ledger.receipts(scope)
        return Barring(receipts, told=_said if form in RAW else _recorded)

    async def _take_batch(self, batch: Sequence[Item], run: _Run, wishes: Wishes) -> None:
        held: list[Held] = []
        for given in batch:
            item = _of_others(given, run) if wishes.only else given
            if isinstance(item, Bad):
                if wishes.strict:
                    await self._write(held, run, wishes)
                    raise InvalidInput(f"{item.place}: {item.error}")
                run.bad.append(item)
                continue
            record = item.record
            if isinstance(record, OfUser):
                await self._write(held, run, wishes)
                held = []
                await self._turn_to(record, run, wishes)
            elif not run.passing:
                held += await self._taken(item, run, wishes)
        await self._write(held, run, wishes)

    async def _taken(self, item: Taken, run: _Run, wishes: Wishes) -> list[OfUsers]:
        """Return what is to be written of a record: nothing of a file, which is put away at once, or of a note."""
        match item.record:
            case FilePiece() as piece:
                await self._file(item.place, piece, run, wishes)
            case Opened(embedder=embedder):
                run.embedder = embedder
            case Spent() | Key() | Hold():
                run.notes[NOT_OURS] = None
            case OfTenant() | OfUser():
                pass
            case record:
                return [record]
        return []

    async def _file(self, place: str, piece: FilePiece, run: _Run, wishes: Wishes) -> None:
        if wishes.dry_run:
            return
        files = run.filed.setdefault(run.scope, {})
        try:
            if await run.pieces.take(run.scope, piece):
                files[piece.id] = bool(await self._parts.ledger.attachments(run.scope, [piece.id]))
        except InvalidInput as error:
            if wishes.strict:
                raise InvalidInput(f"{place}: {error}") from error
            run.bad.append(Bad(place, str(error)))

    async def _count_files(self, run: _Run) -> None:
        """Count what a message here carries by now. Whatever else came was swept again."""
        for scope, files in run.filed.items():
            for id_ in await self._parts.ledger.attachments(scope, list(files)):
                (run.known if files[id_] else run.added)["files"] += 1

    async def _turn_to(self, mark: OfUser, run: _Run, wishes: Wishes) -> None:
        run.scope, run.own_embedder = Scope(self._parts.options.tenant, mark.user), mark.embedder
        run.barring = await self._barring(run.scope, wishes.format)
        run.known_here = 0

    async def _write(self, held: Sequence[Held], run: _Run, wishes: Wishes) -> None:
        allowed = [record for record in held if self._allowed(record, run, wishes)]
        if wishes.dry_run:
            await self._count(allowed, run)
            return
        raw = wishes.format in RAW
        for said, records in groupby(allowed, key=lambda record: raw and isinstance(record, KeptMessage)):
            if said:
                messages = [record.message for record in records if isinstance(record, KeptMessage)]
                await self._add(messages, run, learn=wishes.learn)
            else:
                wanted = list(records)
                if wishes.format != "commonplace":
                    wanted = await self._new(wanted, run)
                await self._restore(wanted, run)

    def _allowed(self, record: Held, run: _Run, wishes: Wishes) -> bool:
        if wishes.bring_back or not run.barring.bars(record):
            return True
        run.forgotten[NAMES[type(record)]] += 1
        return False

    async def _count(self, held: Sequence[Held], run: _Run) -> None:
        """Say what would be new. Only messages and facts are looked up."""
        known: Counter[str] = Counter()
        messages = [record.message.id for record in held if isinstance(record, KeptMessage)]
        facts = [(record.fact.id, record.fact.version) for record in held if isinstance(record, KeptFact)]
        known["messages"] = len(await self._parts.ledger.messages_by_id(run.scope, messages))
        known["fact_versions"] = len(await self._parts.ledger.versions_by_id(run.scope, facts))
        run.known += known
        run.added += Counter(NAMES[type(record)] for record in held) - known

    async def _add(self, messages: Sequence[Message], run: _Run, *, learn: bool) -> None:
        once = {message.id: message for message in reversed(messages)}
        there = await self._parts.ledger.messages_by_id(run.scope, list(once))
        fresh = [message for message in reversed(once.values()) if message.id not in there]
        added = await self._adding.add(run.scope, fresh, learn=learn, wait=False, by_id=True)
        run.added["messages"] += len(fresh)
        run.known["messages"] += len(messages) - len(fresh)
        run.changes += len(added.changes)
        run.pending += added.pending
        run.notes |= dict.fromkeys(added.notes)

    async def _new(self, held: Sequence[Held], run: _Run) -> list[Held]:
        """Leave out what is known by its id or name: another program's file may not date it, so it would seem newer."""
        facts = {fact for record in held if (fact := _fact_of(record)) is not None} - run.fresh
        there = await self._parts.ledger.facts_by_id(run.scope, sorted(facts))
        run.fresh |= facts - there.keys()
        blocks = {(block.name, block.text) for block in await self._parts.ledger.blocks(run.scope)}
        known = [
            record
            for record in held
            if _fact_of(record) in there or (isinstance(record, Block) and (record.name, record.text) in blocks)
        ]
        run.known += Counter(NAMES[type(record)] for record in known)
        return [record for record in held if record not in known]

    async def _restore(self, held: Sequence[Held], run: _Run) -> None:
        # A job of messages that were known here has been done, or is queued here already.
        wanted = [record for record in held if not (isinstance(record, KeptJob) and run.known_here)]
        await self._choosing.claim(run.scope)
        embedder = run.own_embedder or run.embedder
        ready = await self._reindexing.indexed(wanted, scope=run.scope, embedder=embedder)
        written = await self._parts.ledger.write_archive(run.scope, ready.records, model=ready.model)
        run.added += Counter(written.added)
        run.known += Counter(written.known)
        run.loose += Counter(written.loose)
        run.known_here += written.known.get("messages", 0)
        if ready.note is not None:
            run.notes[ready.note] = None
        self._planner.written(run.scope)
        await self._parts.ledger.versions(run.scope)  # tells of another model that has come
        if self._parts.outdated or ready.model != self._parts.embedder_of(run.scope).identity:
            await self._filling.fill(run.scope)


def _of_others(item: Item, run: _Run) -> Item:
    """Return the item; a bad one in its place if it turns to another user, of whom nothing is taken then."""
    if isinstance(item, Bad) or not isinstance(item.record, OfUser):
        return item
    run.passing = item.record.user != run.own
    return Bad(item.place, f"it names user {item.record.user!r}: expected {run.own!r}") if run.passing else item


def _next(items: Iterator[Item]) -> list[Item]:
    """Return the next items. Where a file cannot be read on, the last of them says so."""
    taken: list[Item] = []
    try:
        for item in islice(items, BATCH):
            taken.append(item)  # noqa: PERF402 - what came before an error counts
    except InvalidInput as error:
        taken.append(Bad("the rest", str(error)))
    return taken


def _fact_of(record: Held) -> FactId | None:
    match record:
        case KeptFact(fact=fact):
            return fact.id
        case Source() | FactChange():
            return record.fact
    return None


def _said(message: Message) -> datetime:
    return message.at


def _recorded(message: Message) -> datetime:
    return message.recorded_at
