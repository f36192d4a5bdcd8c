"""How OpenAI, Cohere and Google are asked for embeddings, and how they answer. Google's does not count the tokens."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.agents import gemini

Wire = tuple[
    Callable[[Mapping[str, Any]], list[str]],
    Callable[[Mapping[str, Any], Sequence[Sequence[float]], int], Mapping[str, Any]],
]


def _openai_texts(body: Mapping[str, Any]) -> list[str]:
    return [body["input"]] if isinstance(body["input"], str) else body["input"]


def _openai_vectors(body: Mapping[str, Any], vectors: Sequence[Sequence[float]], tokens: int) -> Mapping[str, Any]:
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": n, "embedding": _packed(vector) if packed else vector}
        for n, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def _cohere_vectors(body: Mapping[str, Any], vectors: Sequence[Sequence[float]], tokens: int) -> Mapping[str, Any]:
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": tokens}}
    embeddings = {"float": vectors}
    return {"id": "e1", "response_type": "embeddings_by_type", "embeddings": embeddings, "meta": meta}


def _google_vectors(body: Mapping[str, Any], vectors: Sequence[Sequence[float]], tokens: int) -> Mapping[str, Any]:
    return {"embeddings": [{"values": vector} for vector in vectors]}


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, np.float32).tobytes()).decode()


EMBEDDINGS: Mapping[str, Wire] = {
    "/embeddings": (_openai_texts, _openai_vectors),
    "/v2/embed": (lambda body: body["texts"], _cohere_vectors),
    "/google/embeddings": (gemini.texts, _google_vectors),
}
