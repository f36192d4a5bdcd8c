"""The embedder of the model whose vectors the ledger holds: another one as soon as another model's take their place.

A process that has the memory open opens the new model by its name. Where it cannot, questions are answered by words
only, and say so, until the memory is opened with that model.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Self

import numpy as np

from commonplace.domain.errors import CommonplaceError, EmbedderUnavailable
from commonplace.ports.embedder import Embedder, Vectors
from commonplace.ports.image_embedder import ImageEmbedder
from commonplace.ports.models import Model, Models
from commonplace.ports.question_embedder import QuestionEmbedder
from commonplace.ports.token_embedder import Read, TokenEmbedder

LOG = logging.getLogger(__name__)

_NO_TOKENS = np.empty((0, 0), np.float32)

OpenNamed = Callable[[object, int | None], AbstractAsyncContextManager[Embedder]]
"""Opens a model by its name, with vectors of that many numbers; None: as many as it gives. Takes an embedder, too."""


class Absent:
    """Stands for a model that cannot be had here."""

    def __init__(self, model: Model, why: str) -> None:
        self._model, self.why = model, why

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderUnavailable(self.why)


class Following:
    def __init__(self, embedder: Embedder, models: Models, *, name: str | None, open_named: OpenNamed) -> None:
        """`name` is how `embedder` is opened; None: it was given."""
        self.models, self._open_named = models, open_named
        self._use(embedder, name)
        self._given = {embedder.identity: embedder}
        self._stack, self._lock = AsyncExitStack(), asyncio.Lock()
        self.generation = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def outdated(self) -> bool:
        """Whether the ledger was last seen to hold the vectors of another generation."""
        return self.models.generation != self.generation

    @property
    def identity(self) -> str:
        return self._now.identity

    @property
    def dimensions(self) -> int:
        return self._now.dimensions

    @property
    def model(self) -> Model:
        """The model in use, as the ledger is to know it."""
        return Model(identity=self.identity, name=self._name, dimensions=self.dimensions)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._now.embed(texts)

    async def read(self, texts: Sequence[str]) -> Sequence[Read]:
        """As `TokenEmbedder.read`; without words where the model does not show them."""
        if self._reader is not None:
            return await self._reader.read(texts)
        return [Read(vector, (), _NO_TOKENS) for vector in await self._now.embed(texts)]

    @property
    def reads_questions(self) -> bool:
        return self._questions is not None

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        return await (self._now.embed(texts) if self._questions is None else self._questions.embed_questions(texts))

    @property
    def takes_images(self) -> bool:
        return self._images is not None

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        if self._images is None:
            raise EmbedderUnavailable(f"{self.identity} takes no images")
        return await self._images.embed_images(images)

    async def opened(self, name: object, dimensions: int | None = None) -> Embedder:
        """Open a model by its name, and have it at hand. Raises EmbedderUnavailable or InvalidInput."""
        embedder = await self._stack.enter_async_context(self._open_named(name, dimensions))
        return self._given.setdefault(embedder.identity, embedder)

    async def known(self, model: Model) -> Embedder:
        """Return the embedder of a model that took part in a switch. Raises EmbedderUnavailable."""
        found = await self._found(model)
        if isinstance(found, Absent):
            raise EmbedderUnavailable(found.why)
        return found

    async def follow(self) -> None:
        """Take the model whose vectors the ledger holds now."""
        async with self._lock:
            record = await self.models.models()
            if record.generation == self.generation:
                return
            if record.current is not None and record.current != self.identity:
                model = record.known.get(record.current) or Model(identity=record.current, name=None, dimensions=1)
                self._use(await self._found(model), model.name)
                LOG.info("the embedding model is another one now: generation %d", record.generation)
            self.generation = record.generation

    def _use(self, embedder: Embedder, name: str | None) -> None:
        self._now, self._name = embedder, name
        # Asked once: looking whether an object keeps a protocol takes 30 µs, and every add asks.
        self._reader = embedder if isinstance(embedder, TokenEmbedder) else None
        self._images = embedder if isinstance(embedder, ImageEmbedder) else None
        self._questions = embedder if isinstance(embedder, QuestionEmbedder) else None

    async def _found(self, model: Model) -> Embedder:
        known = self._given.get(model.identity)
        if known is not None:
            return known
        if model.name is None:
            return Absent(model, f"this memory holds vectors of {model.identity!r} now: open it with that embedder")
        try:
            embedder = await self.opened(model.name, model.dimensions)
        except CommonplaceError as error:
            return Absent(model, f"{model.name}, the model of this memory by now, cannot be had: {error}")
        if embedder.identity != model.identity:
            return Absent(
                model,
                f"{model.name} is {embedder.identity!r} here, and this memory holds vectors of {model.identity!r}",
            )
        return embedder
