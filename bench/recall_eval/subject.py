"""Conversations as the product would hold them: analysed, embedded and in memory, with their questions beside them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from bench.recall_eval.data import Asked as AskedOf
from bench.recall_eval.data import Conversation, Turn
from commonplace.domain.times import to_micros
from commonplace.engine.embedding import Embedding, Sense
from commonplace.ports.embedder import Embedder
from commonplace.ports.ledger import Feed, MessageRow, Versions
from commonplace.recall.corpus import Corpus
from commonplace.recall.features import features
from commonplace.recall.late import packed
from commonplace.recall.packed import analyse_row, index_text, pack
from commonplace.recall.passages import passages
from commonplace.recall.search import Asked
from commonplace.recall.weights import Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    conversation: Conversation
    rows: Sequence[MessageRow]
    questions: Sequence[tuple[AskedOf, Asked]]
    foreign: Sequence[Asked]
    """Questions of other conversations, asked of these people."""
    dimensions: int

    def corpus(self, weights: Weights) -> Corpus:
        corpus = Corpus(dimensions=self.dimensions, weights=weights)
        corpus.apply(Feed(Versions(1, 1, 0, len(self.rows)), self.rows, [], []))
        return corpus

    @property
    def texts(self) -> Mapping[str, Turn]:
        return {turn.id: turn for turn in self.conversation.turns}


async def subjects(conversations: Sequence[Conversation], embedder: Embedder) -> list[Subject]:
    embedding = Embedding(embedder)
    made = []
    for number, conversation in enumerate(conversations):
        other = conversations[(number + 1) % len(conversations)]
        borrowed = [] if other is conversation else [renamed(q.text, other, conversation) for q in other.questions]
        made.append(
            Subject(
                conversation=conversation,
                rows=await _rows(conversation, embedding),
                questions=[(q, await _asked(q.text, embedding)) for q in conversation.questions],
                foreign=[await _asked(text, embedding) for text in borrowed],
                dimensions=embedder.dimensions,
            )
        )
    return made


def renamed(text: str, source: Conversation, target: Conversation) -> str:
    """Return a question with the names of its own people replaced by those of other people."""
    theirs, ours = _people(source), _people(target)
    names = dict(zip(theirs, ours, strict=False))
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)


def _people(conversation: Conversation) -> list[str]:
    return list(dict.fromkeys(turn.name for turn in conversation.turns if turn.name))


async def _asked(text: str, embedding: Embedding) -> Asked:
    (sense,) = await embedding.embed_all([text])
    return Asked(text=text, vector=sense.vector, tokens=sense.tokens)


async def _rows(conversation: Conversation, embedding: Embedding) -> list[MessageRow]:
    spans = [(turn, span) for turn in conversation.turns for span in passages(turn.text)]
    texts = [
        index_text(turn.text[start:stop], speaker=turn.name, at=turn.at, caption=turn.caption)
        for turn, (start, stop) in spans
    ]
    senses = await embedding.embed_all(texts)
    number, first = count(1), dict[str, int]()
    return [_row(turn, span, sense, next(number), first) for (turn, span), sense in zip(spans, senses, strict=True)]


def _row(turn: Turn, span: tuple[int, int], sense: Sense, n: int, first: dict[str, int]) -> MessageRow:
    text = turn.text[span[0] : span[1]]
    analysed = analyse_row(text, whole=features(turn.text).words, speaker=turn.name, at=turn.at, caption=turn.caption)
    return MessageRow(
        n=n,
        first=first.setdefault(turn.id, n),
        id=turn.id,
        session=turn.session,
        role=turn.role,
        name=turn.name,
        agent=None,
        at=to_micros(turn.at),
        expires_at=None,
        metadata=None,
        start=span[0],
        stop=span[1],
        terms=pack(analysed),
        vector=sense.vector.tobytes(),
        tokens=packed(sense.tokens) if sense.tokens else None,
    )
