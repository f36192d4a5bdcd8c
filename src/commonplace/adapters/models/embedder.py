"""Embeddings of a hosted model, through pydantic-ai: OpenAI, Cohere, Google and whatever else it knows.

A vector costs money and a journey, so what the ledger has kept is not asked for again, and every token is counted.
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from pydantic_ai.embeddings import EmbeddingModel, EmbeddingSettings
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError
from pydantic_ai.usage import RequestUsage

from commonplace.adapters.models.failures import TOO_LATE
from commonplace.domain.errors import EmbedderUnavailable
from commonplace.domain.usage import Usage
from commonplace.ports.embedder import Vectors
from commonplace.ports.ledger import EmbeddingCache

DIMENSIONS = {
    "cohere:embed-english-v3.0": 1_024,
    "cohere:embed-multilingual-v3.0": 1_024,
    "cohere:embed-v4.0": 1_536,
    "google:gemini-embedding-001": 3_072,
    "google:gemini-embedding-2": 3_072,
    "openai:text-embedding-3-large": 3_072,
    "openai:text-embedding-3-small": 1_536,
    "openai:text-embedding-ada-002": 1_536,
}
"""Of models that are often used; any other is asked once."""
BATCH = 96
"""Texts in a request: the least of what the services allow."""
LONGEST = 24_000
"""Characters of a text that are embedded: about what fits into 8,192 tokens."""
TOGETHER = 200_000
"""Characters in a request: OpenAI takes 300,000 tokens, and a Chinese character can be one."""

Kind = Literal["query", "document"]
Spend = Callable[[Usage], Awaitable[None]]


class HostedEmbedder:
    """Built by `open`, which knows the dimensions."""

    def __init__(
        self, model: EmbeddingModel, *, name: str, dimensions: int, shortened: bool = False, tells_apart: bool = True
    ) -> None:
        self._model, self._name, self._dimensions = model, name, dimensions
        self._of_questions: Kind = "query" if tells_apart else "document"
        # Vectors that were cut to fewer numbers are not those of the whole model: they never share an index.
        self._identity = f"{name}/{dimensions}" if shortened else name
        # Text beyond what the model reads is cut by the service that would otherwise refuse it.
        self._asked: EmbeddingSettings = {"truncate": True, **({"dimensions": dimensions} if shortened else {})}
        self._cache: EmbeddingCache | None = None
        self._spend: Spend | None = None

    @classmethod
    async def open(
        cls, model: EmbeddingModel, *, name: str, dimensions: int | None = None, tells_apart: bool = True
    ) -> "HostedEmbedder":
        """Return an embedder. A model whose dimensions nobody knows is asked. Raises EmbedderUnavailable.

        The service is asked to shorten its vectors where the model's own dimensions are known to be others.
        Where it does not tell questions apart from other texts, the vector of a text serves for both.
        """
        own = DIMENSIONS.get(name)
        if known := dimensions or own:
            shortened = own not in (None, known)
            return cls(model, name=name, dimensions=known, shortened=shortened, tells_apart=tells_apart)
        (row,) = await cls(model, name=name, dimensions=0)._ask(["dimensions"])
        return cls(model, name=name, dimensions=len(row), tells_apart=tells_apart)

    def keep_in(self, cache: EmbeddingCache, spend: Spend) -> None:
        """Keep vectors there, and tell it what they cost."""
        self._cache, self._spend = cache, spend

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, "document")

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, self._of_questions)

    async def _embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        digests = [_digest(text, kind) for text in texts]
        found = await self._kept(digests)
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}
        for batch in batches({digest: len(text[:LONGEST]) for digest, text in missing.items()}):
            given = await self._ask([_clean(missing[digest]) for digest in batch], kind)
            fresh = dict(zip(batch, self._checked(given, len(batch)), strict=True))
            found |= fresh
            if self._cache is not None:
                await self._cache.cache_embeddings(self._identity, fresh, now=datetime.now(UTC))
        return (
            np.stack([found[digest] for digest in digests]) if digests else np.empty((0, self._dimensions), np.float32)
        )

    async def _kept(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        if self._cache is None:
            return {}
        kept = await self._cache.cached_embeddings(self._identity, digests)
        vectors = {digest: np.frombuffer(packed, np.float32) for digest, packed in kept.items()}
        return {digest: vector for digest, vector in vectors.items() if len(vector) == self._dimensions}

    async def _ask(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Sequence[float]]:
        try:
            result = await self._model.embed(texts, input_type=kind, settings=self._asked)
        except TOO_LATE as error:
            raise EmbedderUnavailable(f"{self._name} gave no embeddings in time") from error
        except AgentRunError as error:
            status = f" with status {error.status_code}" if isinstance(error, ModelHTTPError) else ""
            what = type(error).__name__.removeprefix("_HTTP")
            raise EmbedderUnavailable(f"{self._name} gave no embeddings{status}: {what}") from error
        except ValueError as error:  # what the SDK raises for an answer without data
            raise EmbedderUnavailable(f"{self._name} gave 0 embeddings: expected {len(texts)}") from error
        if self._spend is not None:
            await self._spend(Usage(requests=1, input_tokens=_tokens(result.usage, texts)))
        return result.embeddings

    def _checked(self, rows: Sequence[Sequence[float]], count: int) -> Vectors:
        """Return rows of unit length. What is not what was asked for is refused, never stored."""
        sizes = {len(row) for row in rows}
        if len(rows) != count or sizes != {self._dimensions}:
            raise EmbedderUnavailable(
                f"{self._name} gave {len(rows)} embeddings of {sorted(sizes)} numbers: "
                f"expected {count} of {self._dimensions}"
            )
        vectors = np.asarray(rows, np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderUnavailable(f"{self._name} gave an embedding of zeros, or of no numbers")
        return np.asarray(vectors / lengths, np.float32)


def batches(lengths: Mapping[bytes, int]) -> Iterator[list[bytes]]:
    """Yield what goes into one request: no more texts, and no more characters, than a service takes."""
    batch, room = list[bytes](), TOGETHER
    for digest, length in lengths.items():
        if batch and (len(batch) == BATCH or length > room):
            yield batch
            batch, room = [], TOGETHER
        batch.append(digest)
        room -= length
    if batch:
        yield batch


def _tokens(usage: RequestUsage, texts: Sequence[str]) -> int:
    """Return what was read. The Gemini API does not say, so it is estimated there: four bytes to a token."""
    return usage.input_tokens or sum(-(-len(text.encode()) // 4) for text in texts)


def _clean(text: str) -> str:
    """Return what can be sent: no half surrogate pairs, and not nothing."""
    return text[:LONGEST].encode("utf-8", "replace").decode() if text.strip() else "(nothing)"


def _digest(text: str, kind: Kind) -> bytes:
    """Return what a vector is kept under: that of a question is not that of the same text."""
    salt = b"query" if kind == "query" else b""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, salt=salt).digest()
