"""Embedder on onnxruntime.

The model is loaded (and fetched, if need be) at the first use, on the thread that also runs it: the event loop never
waits for either.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from commonplace.adapters.onnx import pinned
from commonplace.adapters.onnx.batching import SharedBatches
from commonplace.adapters.onnx.inference import SentenceModel
from commonplace.adapters.onnx.model_files import ModelFiles
from commonplace.adapters.onnx.progress import Progress, silent
from commonplace.domain.errors import EmbedderUnavailable, InvalidInput
from commonplace.ports.embedder import Vectors
from commonplace.ports.token_embedder import Read

ROUND_CHARACTERS = 8_192
"""Texts that run together: about 2,000 tokens, which take half a second on one slow core. A new caller waits that long
at most."""

SHORTEST, LONGEST = 32, 1_024
"""A text costs at least its overhead, and no more than the 256 tokens that are read of it."""


class OnnxEmbedder:
    def __init__(
        self,
        files: ModelFiles,
        *,
        threads: int = 1,
        progress: Progress = silent,
        retry_after: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """When the model cannot be had, that answer is repeated for `retry_after` seconds before it is tried again."""
        self._files, self._threads, self._progress = files, threads, progress
        self._retry_after, self._clock = retry_after, clock
        self._model: SentenceModel | None = None
        self._failed: tuple[float, str] | None = None
        self._batches = SharedBatches(self._read, cost=_cost, budget=ROUND_CHARACTERS, name="commonplace-embedder")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the thread. Whoever still waits gets Closed."""
        await asyncio.to_thread(self._batches.close)

    @property
    def identity(self) -> str:
        return pinned.IDENTITY

    @property
    def dimensions(self) -> int:
        return pinned.DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As the port promises. A text alone and in company gives the same row within a cosine of 0.9999."""
        vectors = np.empty((len(texts), pinned.DIMENSIONS), np.float32)
        for row, reading in enumerate(await self.read(texts)):
            vectors[row] = reading.vector
        return vectors

    async def read(self, texts: Sequence[str]) -> Sequence[Read]:
        """The vectors with what they are made of, out of the same pass."""
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput(f"texts: expected a list of strings, got a {type(texts).__name__}")
        # Texts of one length pad each other least, and a long call is served in several rounds.
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        readings = await self._batches.results([texts[n] for n in order]) if texts else ()
        return [reading for _, reading in sorted(zip(order, readings, strict=True), key=lambda pair: pair[0])]

    def _read(self, texts: Sequence[str]) -> Sequence[Read]:
        try:
            readings = self._loaded().read(texts)
        except EmbedderUnavailable:
            raise
        except Exception as error:  # the errors of onnxruntime have no base of their own
            raise EmbedderUnavailable(f"{pinned.IDENTITY} failed: {type(error).__name__}: {error}") from error
        if not all(np.isfinite(reading.vector).all() for reading in readings):
            raise EmbedderUnavailable(f"{pinned.IDENTITY} gave a vector that is not finite")
        return readings

    def _loaded(self) -> SentenceModel:
        if self._model is None:
            self._model = self._load()
        return self._model

    def _load(self) -> SentenceModel:
        if self._failed and self._clock() < self._failed[0]:
            raise EmbedderUnavailable(self._failed[1])
        try:
            files = self._files.load(self._progress)
            return SentenceModel(files.onnx, files.tokenizer, threads=self._threads)
        except EmbedderUnavailable as error:
            self._failed = (self._clock() + self._retry_after, str(error))
            raise


def _cost(text: str) -> int:
    return min(max(len(text), SHORTEST), LONGEST)
