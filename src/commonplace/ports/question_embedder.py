"""An embedder that reads a question in another way than what may answer it, as some hosted models want it."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from commonplace.ports.embedder import Vectors


@runtime_checkable
class QuestionEmbedder(Protocol):
    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """As `Embedder.embed`, of texts that are looked for and not kept: their vectors are near those of answers."""
        ...
