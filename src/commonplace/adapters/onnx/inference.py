"""The model in memory: texts in, token and sentence vectors out. It blocks; `embedder` keeps it off the event loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions, disable_telemetry_events

from commonplace.adapters.onnx.pinned import DIMENSIONS
from commonplace.adapters.onnx.tokens import Pieces
from commonplace.ports.embedder import Vectors
from commonplace.ports.token_embedder import Read

BATCH_TOKENS = 1_024
"""Most tokens of one forward pass, padding included: more gains nothing and takes memory."""

WORTH_PADDING = 1.25
"""A pass may hold this many times its real tokens; past that, a second pass is cheaper than the padding."""

ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class Pass:
    """One forward pass. Row i is the text `texts[i]` of the call; `mask` tells its tokens from the padding."""

    texts: Sequence[int]
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    hidden: NDArray[np.float32]


class SentenceModel:
    def __init__(self, onnx: bytes, tokenizer: bytes, *, threads: int) -> None:
        # For a program that imported onnxruntime before us, and so before the package could prevent it.
        disable_telemetry_events()
        options = SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = ERRORS_ONLY
        # A spinning thread takes a whole core from the rest of the program between two calls.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
        self._pieces = Pieces(tokenizer)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text's token vectors, at unit length."""
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for each in self.forward(texts):
            vectors[each.texts] = _pooled(each)
        return vectors

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Return the same vectors, each with the words of its text and the vector of every piece of them."""
        readings: dict[int, Read] = {}
        for each in self.forward(texts):
            for row, (text, vector) in enumerate(zip(each.texts, _pooled(each), strict=True)):
                ids = each.ids[row][each.mask[row] == 1].tolist()
                words = self._pieces.words(ids)
                own = [place for place, word in enumerate(words) if word]
                readings[text] = Read(vector, [words[place] for place in own], each.hidden[row, own])
        return [readings[text] for text in range(len(texts))]

    def forward(self, texts: Sequence[str]) -> Iterator[Pass]:
        """Run every text through the model once, in passes of similar length."""
        pieces = self._pieces.of(texts)
        for rows in passes([len(ids) for ids in pieces]):
            ids, mask = _padded([pieces[row] for row in rows])
            (hidden,) = self._session.run(["hidden"], {"input_ids": ids, "attention_mask": mask})
            yield Pass(rows, ids, mask, hidden)


def passes(lengths: Sequence[int]) -> list[list[int]]:
    """Group texts by length, so that little of a pass is padding. Returns positions in `lengths`."""
    groups: list[list[int]] = []
    tokens = 0
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        padded = (len(groups[-1]) + 1) * lengths[row] if groups else 0
        if not groups or padded > min(BATCH_TOKENS, WORTH_PADDING * (tokens + lengths[row])):
            groups.append([])
            tokens = 0
        groups[-1].append(row)
        tokens += lengths[row]
    return groups


def _padded(pieces: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    shape = (len(pieces), max(map(len, pieces)))
    ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, text in enumerate(pieces):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return ids, mask


def _pooled(each: Pass) -> Vectors:
    # Padding is zeroed, and dividing by the number of tokens is left out: only the direction is kept.
    sums = np.einsum("btd,bt->bd", each.hidden, each.mask.astype(np.float32))
    return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), np.float32)
