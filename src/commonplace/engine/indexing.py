"""What the indexes need to know of a text: passages, terms and vectors, all made before anything is written."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, TypedDict

from commonplace.domain.scope import Scope
from commonplace.domain.values import Fact, FactId, Message, MessageId, Summary, SummaryId
from commonplace.engine.embedding import Embedding, Sense
from commonplace.ports.ledger import Entry, Feed, Ledger, NewMessage, NewSummary, NewVersion
from commonplace.recall.features import features
from commonplace.recall.late import packed
from commonplace.recall.packed import analyse_row, index_text, pack
from commonplace.recall.passages import passages


class Sketch(NamedTuple):
    """An index entry that still lacks its vector."""

    start: int
    stop: int
    terms: bytes
    dense_text: str

    def entry(self, sense: Sense | None) -> Entry:
        return Entry(
            start=self.start,
            stop=self.stop,
            terms=self.terms,
            vector=sense.vector if sense else None,
            tokens=packed(sense.tokens) if sense and sense.tokens else None,
        )


class Indexed(NamedTuple):
    messages: Sequence[NewMessage]
    note: str | None


class Indexing:
    def __init__(self, embedding: Embedding, *, language: str) -> None:
        self._embedding = embedding
        self._language = language

    async def messages(self, messages: Sequence[Message]) -> Indexed:
        sketches = [self.sketch_message(message) for message in messages]
        senses, note = await self._embedding.embed([sketch.dense_text for group in sketches for sketch in group])
        given = iter(senses)
        return Indexed(
            [
                NewMessage(message=message, entries=tuple(sketch.entry(next(given)) for sketch in group))
                for message, group in zip(messages, sketches, strict=True)
            ],
            note,
        )

    async def senses(self, texts: Sequence[str]) -> Sequence[Sense]:
        """Make vectors anew, for work that is pointless without them. Raises EmbedderUnavailable."""
        return await self._embedding.embed_all(texts)

    def versions(self, facts: Sequence[Fact]) -> Sequence[NewVersion]:
        """Index facts. Their vectors, unless known already, are filled in later: `engine.filling`."""
        sketches = [self.sketch_fact(fact) for fact in facts]
        return [
            NewVersion(fact=fact, entry=sketch.entry(self._embedding.kept(sketch.dense_text)))
            for fact, sketch in zip(facts, sketches, strict=True)
        ]

    async def summary(self, summary: Summary) -> NewSummary:
        sketch = self.sketch_summary(summary)
        (sense,), _ = await self._embedding.embed([sketch.dense_text])
        return NewSummary(summary=summary, entry=sketch.entry(sense))

    def sketch_message(self, message: Message) -> Sequence[Sketch]:
        label = _label(message)
        text = message.text
        spans = passages(text)
        whole = features(text).words if len(spans) > 1 else None
        return [
            Sketch(
                start,
                stop,
                pack(analyse_row(text[start:stop], whole=whole, language=self._language, **label)),
                index_text(text[start:stop], **label),
            )
            for start, stop in spans
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
                row.n: index_text(message.text[row.start : row.stop], **_label(message))
                for row in messages
                if (message := said.get(MessageId(row.id)))
            },
            **{row.n: fact.text for row in facts if (fact := known.get((FactId(row.id), row.version)))},
        }


class Label(TypedDict):
    speaker: str | None
    at: datetime
    caption: str | None


def _label(message: Message) -> Label:
    caption = message.metadata.get("caption")
    return Label(speaker=message.name, at=message.at, caption=caption if isinstance(caption, str) else None)
