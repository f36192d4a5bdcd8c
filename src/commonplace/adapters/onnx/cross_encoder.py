"""A cross-encoder on onnxruntime: any folder with a `model.onnx` and a `tokenizer.json`, loaded when first needed.

The model takes the ids of a question and a text together and gives one number for the pair, or two of which the last
says yes. Its inputs are given by name, those that it has.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from commonplace.domain.errors import RerankerUnavailable

MOST_TOKENS = 512


class CrossEncoder:
    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder, self._threads = folder, threads
        self._loaded: tuple[InferenceSession, Tokenizer] | None = None
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        return str(self._folder)

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        async with self._lock:
            return await asyncio.to_thread(self._score, query, list(texts))

    def _score(self, query: str, texts: list[str]) -> list[float]:
        try:
            session, tokenizer = self._loaded = self._loaded or self._load()
            read = tokenizer.encode_batch([(_readable(query), _readable(text)) for text in texts])
            columns = {
                "input_ids": [one.ids for one in read],
                "attention_mask": [one.attention_mask for one in read],
                "token_type_ids": [one.type_ids for one in read],
            }
            wanted = {taken.name for taken in session.get_inputs()}
            (raw, *_) = session.run(None, {n: np.array(c, np.int64) for n, c in columns.items() if n in wanted})
        except Exception as error:  # noqa: BLE001  both libraries raise bare exceptions of their own
            raise RerankerUnavailable(f"{self.name}: {type(error).__name__}: {error}") from error
        return self._read(np.asarray(raw, np.float64), len(texts))

    def _read(self, raw: np.ndarray, count: int) -> list[float]:
        rows = raw.reshape(len(raw), -1) if raw.ndim else raw.reshape(1, 1)
        if rows.shape not in {(count, 1), (count, 2)} or not np.isfinite(rows).all():
            raise RerankerUnavailable(f"{self.name}: expected one or two finite numbers a text, got shape {raw.shape}")
        odds = rows[:, 0] if rows.shape[1] == 1 else rows[:, 1] - rows[:, 0]
        likely: list[float] = (1 / (1 + np.exp(-np.clip(odds, -60, 60)))).tolist()
        return likely

    def _load(self) -> tuple[InferenceSession, Tokenizer]:
        options = SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3
        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.enable_truncation(MOST_TOKENS, strategy="only_second")
        tokenizer.enable_padding()
        model = str(self._folder / "model.onnx")
        return InferenceSession(model, options, providers=["CPUExecutionProvider"]), tokenizer


def _readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
