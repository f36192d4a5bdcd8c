"""What a model makes of texts, kept by text, and the one place where a missing model becomes a note, not an error."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.domain.errors import EmbedderUnavailable
from commonplace.ports.embedder import Embedder
from commonplace.ports.image_embedder import ImageEmbedder
from commonplace.ports.ledger import Vector
from commonplace.ports.question_embedder import QuestionEmbedder
from commonplace.ports.token_embedder import TokenEmbedder
from commonplace.recall.late import QueryTokens, short_tokens

KEPT = 10_000
"""Texts kept in RAM: about 50 MB."""


class Sense(NamedTuple):
    """What a model makes of a text: its vector, and the short vectors of its words where the model shows them."""

    vector: Vector
    tokens: QueryTokens | None
    model: str | None = None
    """The identity of that model."""


class Embedded(NamedTuple):
    senses: Sequence[Sense | None]
    """One per text; all None when no model can be had."""
    note: str | None


class Embedding:
    def __init__(self, embedder: Embedder, *, language: str = "en") -> None:
        self._embedder, self._language = embedder, language
        # Asked once: looking whether an object keeps a protocol takes longer than a small embedder does.
        self._reader = embedder if isinstance(embedder, TokenEmbedder) else None
        self._images = embedder if isinstance(embedder, ImageEmbedder) else None
        self._questions = embedder if isinstance(embedder, QuestionEmbedder) else None
        self._model = embedder.identity
        self._kept: OrderedDict[bytes, Sense] = OrderedDict()

    @property
    def identity(self) -> str:
        return self._embedder.identity

    async def embed(self, texts: Sequence[str], *, asked: bool = False) -> Embedded:
        """Never fails for want of a model: the texts stay searchable by their words, and the note says so.

        `asked`: they are questions, which some models read in another way.
        """
        try:
            return Embedded(await self.embed_all(texts, asked=asked), None)
        except EmbedderUnavailable as error:
            return Embedded([None] * len(texts), f"searched by words only: {error}")

    async def embed_all(self, texts: Sequence[str], *, asked: bool = False) -> Sequence[Sense]:
        """As `embed`, for work that is pointless without vectors. Raises EmbedderUnavailable."""
        while True:
            model = self._of_one_model()
            as_questions = asked and self.reads_questions
            keys = [_key(text, asked=as_questions) for text in texts]
            found = {key: kept for key in keys if (kept := self._kept.get(key))}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            read = self._read_questions if as_questions else self._read
            if missing:
                found.update(zip(missing, await read(list(missing.values()), model), strict=True))
            if self._embedder.identity == model:  # else another one took its place meanwhile
                break
        self._keep(found)
        return [found[key] for key in keys]

    @property
    def reads_questions(self) -> bool:
        """Whether the model of this moment reads questions in another way."""
        return self._questions is not None and bool(getattr(self._embedder, "reads_questions", True))

    @property
    def takes_images(self) -> bool:
        return self._images is not None and bool(getattr(self._embedder, "takes_images", True))

    async def embed_image(self, image: bytes) -> Sense | None:
        """Return the sense of an image; None where the model takes none, or cannot be had now."""
        if self._images is None or not self.takes_images:
            return None
        model = self._embedder.identity
        try:
            (vector,) = await self._images.embed_images([image])
        except EmbedderUnavailable:
            return None
        return Sense(vector, None, model)

    def kept(self, text: str) -> Sense | None:
        """Return what is known of a text without asking the model."""
        self._of_one_model()
        return self._kept.get(_key(text))

    def clear(self) -> None:
        """Let go of everything that is kept."""
        self._kept.clear()

    def _of_one_model(self) -> str:
        """Let go of what another model made of texts. Returns the one that is asked now."""
        model = self._embedder.identity
        if model != self._model:
            self._kept.clear()
            self._model = model
        return model

    async def _read_questions(self, texts: Sequence[str], model: str) -> Sequence[Sense]:
        assert self._questions is not None
        return [Sense(vector, None, model) for vector in await self._questions.embed_questions(texts)]

    async def _read(self, texts: Sequence[str], model: str) -> Sequence[Sense]:
        if self._reader is None:
            return [Sense(vector, None, model) for vector in await self._embedder.embed(texts)]
        return [
            Sense(
                one.vector, short_tokens(one.words, one.tokens, language=self._language) if one.words else None, model
            )
            for one in await self._reader.read(texts)
        ]

    def _keep(self, senses: dict[bytes, Sense]) -> None:
        for key, sense in senses.items():
            self._kept[key] = sense
            self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)


def _key(text: str, *, asked: bool = False) -> bytes:
    salt = b"asked" if asked else b""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, salt=salt).digest()
