"""Vectors for texts, remembered by text, and the one place where a missing model becomes a note instead of an error."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from commonplace.domain.errors import EmbedderUnavailable
from commonplace.ports.embedder import Embedder, Vectors
from commonplace.ports.ledger import Vector

KEPT = 20_000
"""Vectors kept in RAM: 30 MB at 384 dimensions."""


class Embedded(NamedTuple):
    vectors: Sequence[Vector | None]
    """One per text; all None when no model can be had."""
    note: str | None


class Embedding:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()

    @property
    def identity(self) -> str:
        return self._embedder.identity

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Never fails for want of a model: the texts stay searchable by their words, and the note says so."""
        keys = [_key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        try:
            fresh = await self._embedder.embed(list(missing.values())) if missing else ()
        except EmbedderUnavailable as error:
            return Embedded([None] * len(texts), f"searched by words only: {error}")
        vectors = {**dict(zip(missing, fresh, strict=True)), **self._recall(keys)}
        self._keep(vectors)
        return Embedded([vectors[key] for key in keys], None)

    async def embed_all(self, texts: Sequence[str]) -> Vectors:
        """As `embed`, for work that is pointless without vectors. Raises EmbedderUnavailable."""
        return await self._embedder.embed(texts)

    def _recall(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        return {key: self._kept[key] for key in keys if key in self._kept}

    def _keep(self, vectors: dict[bytes, Vector]) -> None:
        for key, vector in vectors.items():
            self._kept[key] = np.asarray(vector, dtype=np.float32)
            self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
