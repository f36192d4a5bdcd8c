"""Builds the int8 model, and compares it with the float32 one before anybody uses it.

Only this and `graph` import onnx, which takes longer than loading the model: whoever has the model needs neither.
"""

import os
from pathlib import Path

import numpy as np

from commonplace.adapters.onnx import pinned
from commonplace.adapters.onnx.graph import FLOAT32, INT8, build_graph
from commonplace.adapters.onnx.inference import SentenceModel
from commonplace.adapters.onnx.progress import Progress, Step
from commonplace.adapters.onnx.weights import read_weights
from commonplace.domain.errors import EmbedderUnavailable

LIKENESS = 0.99

SENTENCES = (
    "I use two tools to plan my week, and I would not want to miss either of them.",
    "Allergic to peanuts.",
    "What did she say about the move to the coast last spring?",
    "My brother works at a bakery in Lisbon; he gets up at three in the morning, six days a week.",
    "The train was late again, so we missed the first half of the concert.",
    "Which of my friends plays the cello?",
)


def build_model(folder: Path, target: Path, progress: Progress) -> None:
    """Make the int8 graph of the weights in the folder. Raises EmbedderUnavailable if it is not like the original."""
    progress(Step("building the model", 0, 1))
    weights = read_weights(folder / pinned.WEIGHTS.name)
    tokenizer = (folder / pinned.TOKENIZER.name).read_bytes()
    onnx = build_graph(weights, INT8)
    found = likeness(
        SentenceModel(onnx, tokenizer, threads=1), SentenceModel(build_graph(weights, FLOAT32), tokenizer, threads=1)
    )
    if found < LIKENESS:
        raise EmbedderUnavailable(
            f"the int8 model gives other vectors here: mean cosine {found:.4f}, expected {LIKENESS}"
        )
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(onnx)


def likeness(one: SentenceModel, other: SentenceModel) -> float:
    """Return the mean cosine of the vectors that two models give to the same sentences."""
    return float(np.sum(one.embed(SENTENCES) * other.embed(SENTENCES)) / len(SENTENCES))
