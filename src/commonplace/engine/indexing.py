"""What the indexes need to know of a text: passages, terms and vectors, all made before anything is written."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypedDict

from commonplace.domain.scope import Scope
from commonplace.domain.values import AttachmentId, Fact, FactId, Message, MessageId, Summary, SummaryId
from commonplace.engine.embedding import Embedding, Sense
from commonplace.ports.ledger import Entry, Feed, Ledger, NewMessage, NewSummary, NewVersion
from commonplace.recall.carried import captions, carried, words_at
from commonplace.recall.features import features
from commonplace.recall.late import packed
from commonplace.recall.packed import analyse_row, index_text, pack

EmbeddingOf = Callable[[Scope], Embedding]
"""Which model reads a user's texts."""
Look = Callable[[Scope, AttachmentId], Awaitable[bytes]]
"""Reads the bytes of an image."""


class Sketch(NamedTuple):
    """An index entry that still lacks its vector."""

    start: int
    stop: int
    terms: bytes
    dense_text: str
    image: AttachmentId | None = None
    """What is looked at instead, if the embedder takes images."""

    def entry(self, sense: Sense | None) -> Entry:
        return Entry(
            start=self.start,
            stop=self.stop,
            terms=self.terms,
            vector=sense.vector if sense else None,
            tokens=packed(sense.tokens) if sense and sense.tokens else None,
            model=sense.model if sense else None,
        )


class Indexed(NamedTuple):
    messages: Sequence[NewMessage]
    note: str | None


class Indexing:
    def __init__(self, embedding_of: EmbeddingOf, *, language: str, look: Look | None = None) -> None:
        self._embedding_of = embedding_of
        self._language = language
        self._looking = look

    def _look(self, scope: Scope) -> Look | None:
        return self._looking if self._embedding_of(scope).takes_images else None

    async def messages(self, messages: Sequence[Message], *, scope: Scope) -> Indexed:
        sketches = [self.sketch_message(message, scope=scope) for message in messages]
        senses, note = await self.senses_of([sketch for group in sketches for sketch in group], scope=scope)
        given = iter(senses)
        return Indexed(
            [
                NewMessage(message=message, entries=tuple(sketch.entry(next(given)) for sketch in group))
                for message, group in zip(messages, sketches, strict=True)
            ],
            note,
        )

    async def senses_of(self, sketches: Sequence[Sketch], *, scope: Scope) -> tuple[Sequence[Sense | None], str | None]:
        """Return what the embedder makes of each: a text or an image. The note says so when no model can be had."""
        read, note = await self._embedding_of(scope).embed([one.dense_text for one in sketches if one.image is None])
        given = iter(read)
        return [next(given) if one.image is None else await self.picture(scope, one.image) for one in sketches], note

    async def picture(self, scope: Scope, image: AttachmentId) -> Sense | None:
        look = self._look(scope)
        return None if look is None else await self._embedding_of(scope).embed_image(await look(scope, image))

    async def senses(self, texts: Sequence[str], *, scope: Scope) -> Sequence[Sense]:
        """Make vectors anew, for work that is pointless without them. Raises EmbedderUnavailable."""
        return await self._embedding_of(scope).embed_all(texts)

    def versions(self, facts: Sequence[Fact], *, scope: Scope) -> Sequence[NewVersion]:
        """Index facts. Their vectors, unless known already, are filled in later: `engine.filling`."""
        embedding, sketches = self._embedding_of(scope), [self.sketch_fact(fact) for fact in facts]
        return [
            NewVersion(fact=fact, entry=sketch.entry(embedding.kept(sketch.dense_text)))
            for fact, sketch in zip(facts, sketches, strict=True)
        ]

    async def summary(self, summary: Summary, *, scope: Scope) -> NewSummary:
        sketch = self.sketch_summary(summary)
        (sense,), _ = await self._embedding_of(scope).embed([sketch.dense_text])
        return NewSummary(summary=summary, entry=sketch.entry(sense))

    def sketch_message(self, message: Message, *, scope: Scope) -> Sequence[Sketch]:
        label, look = _label(message), self._look(scope)
        spans = [one for one in carried(message) if look is not None or not one.is_image]
        whole = features(message.text).words if len(spans) > 1 else None
        return [
            Sketch(one.start, one.stop, pack(analyse_row("")), "", one.attachment.id)
            if one.is_image and one.attachment is not None
            else Sketch(
                one.start,
                one.stop,
                pack(analyse_row(one.text, whole=whole, language=self._language, **label)),
                index_text(one.text, **label),
            )
            for one in spans
        ]

    def sketch_fact(self, fact: Fact) -> Sketch:
        row = analyse_row(fact.text, at=fact.said_at, language=self._language)
        return Sketch(0, len(fact.text), pack(row), fact.text)

    def sketch_summary(self, summary: Summary) -> Sketch:
        row = analyse_row(summary.text, at=summary.until, language=self._language)
        return Sketch(0, len(summary.text), pack(row), summary.text)

    async def texts_of(self, ledger: Ledger, scope: Scope, feed: Feed, numbers: frozenset[int]) -> dict[int, str]:
        """Return what the embedder should read for these rows of a feed."""
        messages = [row for row in feed.messages if row.n in numbers]
        facts = [row for row in feed.facts if row.n in numbers and row.kind != "summary"]
        stretches = {row.n: SummaryId(row.id) for row in feed.facts if row.n in numbers and row.kind == "summary"}
        said = await ledger.messages_by_id(scope, list(dict.fromkeys(MessageId(row.id) for row in messages)))
        known = await ledger.versions_by_id(scope, [(FactId(row.id), row.version) for row in facts])
        summaries = await ledger.summaries_by_id(scope, list(stretches.values())) if stretches else {}
        return {
            **{n: summaries[id_].text for n, id_ in stretches.items() if id_ in summaries},
            **{
                row.n: index_text(words_at(message, row.start, row.stop), **_label(message))
                for row in messages
                if (message := said.get(MessageId(row.id)))
            },
            **{row.n: fact.text for row in facts if (fact := known.get((FactId(row.id), row.version)))},
        }

    async def images_of(
        self, ledger: Ledger, scope: Scope, feed: Feed, numbers: frozenset[int]
    ) -> dict[int, AttachmentId]:
        """Return the rows of a feed that stand for images, where the embedder takes them."""
        rows = [row for row in feed.messages if row.n in numbers and row.start == row.stop]
        if self._look(scope) is None or not rows:
            return {}
        said = await ledger.messages_by_id(scope, list({MessageId(row.id) for row in rows}))
        return {
            row.n: one.attachment.id
            for row in rows
            if (message := said.get(MessageId(row.id)))
            for one in carried(message)
            if one.is_image and one.attachment is not None and one.start == row.start
        }


class Label(TypedDict):
    speaker: str | None
    at: datetime
    caption: str | None


def _label(message: Message) -> Label:
    return Label(speaker=message.name, at=message.at, caption=captions(message))
