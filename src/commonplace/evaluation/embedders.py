"""Embedders as a run wants them: asked once for each question, and with what they show hidden where a part is left out.

All keep the identity of the one they stand for, since the vectors are its own.
"""

from collections.abc import Sequence

import numpy as np

from commonplace.domain.errors import EmbedderUnavailable
from commonplace.ports.embedder import Embedder, Vectors
from commonplace.ports.token_embedder import Read, TokenEmbedder


class Plain:
    """Only the vectors of whole texts, each text embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors |= zip(new, await self._embedder.embed(new), strict=True)
        rows = [self._vectors[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimensions), np.float32)


class Showing(Plain):
    """The same with tokens."""

    def __init__(self, embedder: Embedder, tokens: TokenEmbedder) -> None:
        super().__init__(embedder)
        self._tokens = tokens
        self._read: dict[str, Read] = {}

    async def read(self, texts: Sequence[str]) -> Sequence[Read]:
        new = [text for text in dict.fromkeys(texts) if text not in self._read]
        if new:
            self._read |= zip(new, await self._tokens.read(new), strict=True)
        return [self._read[text] for text in texts]


class Absent:
    """No model: recall goes by words alone, as it does for everybody without one."""

    def __init__(self, identity: str = "none", dimensions: int = 8) -> None:
        self.identity, self.dimensions = identity, dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderUnavailable("left out of this run")


def kept(embedder: Embedder) -> Plain:
    return Showing(embedder, embedder) if isinstance(embedder, TokenEmbedder) else Plain(embedder)
