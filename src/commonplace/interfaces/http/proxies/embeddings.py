"""Embeddings in OpenAI's form, made by the memory's own model: no key, and nothing leaves the machine."""

import base64
from typing import Any

import numpy as np

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.http.proxies.turn import Object
from commonplace.ports.embedder import Embedder, Vectors
from commonplace.recall.tokens import count_tokens

OWN = "commonplace"
MOST = 2_048
"""Texts in one request, as at OpenAI."""


def is_own(model: object, embedder: Embedder) -> bool:
    """Say whether a request asks for the model that the memory itself uses."""
    return model in (OWN, embedder.identity, embedder.identity.partition("/")[0])


async def embed(asked: Object, embedder: Embedder) -> Object:
    texts = _texts(asked.get("input"))
    form = asked.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise InvalidInput(f"encoding_format={form!r}: expected float or base64")
    vectors = await embedder.embed(texts)
    if (wanted := asked.get("dimensions")) not in (None, vectors.shape[1]):
        raise InvalidInput(f"dimensions={wanted!r}: expected {vectors.shape[1]}, which is what this model makes")
    tokens = sum(count_tokens(text) for text in texts)
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": place, "embedding": _written(vector, form)}
            for place, vector in enumerate(vectors)
        ],
        "model": asked["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _texts(given: object) -> list[str]:
    texts: list[Any] = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    if not 1 <= len(texts) <= MOST or not all(isinstance(text, str) and text for text in texts):
        raise InvalidInput(f"input: expected a text that is not empty, or 1 to {MOST:,} of them (no tokens)")
    return texts


def _written(vector: Vectors, form: str) -> object:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(one) for one in np.asarray(vector)]
