"""A hosted reranker that speaks the `/rerank` format of Cohere, Jina and their like.

Nothing but the question and the texts of the best few leave the machine; whatever goes wrong is RerankerUnavailable.
"""

import asyncio
import json
from collections.abc import Sequence
from http.client import HTTPException
from math import isfinite
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from commonplace.domain.errors import RerankerUnavailable


class RerankApi:
    def __init__(
        self, base_url: str, *, key: str | None = None, model: str | None = None, timeout: float = 5.0
    ) -> None:
        self._url, self._key, self._model, self._timeout = f"{base_url.rstrip('/')}/rerank", key, model, timeout

    @property
    def name(self) -> str:
        return self._url

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        wanted = {"query": query, "documents": list(texts), "top_n": len(texts)}
        answer = await asyncio.to_thread(self._ask, wanted | ({"model": self._model} if self._model else {}))
        return self._read(answer, len(texts))

    def _ask(self, wanted: dict[str, object]) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps(wanted).encode("ascii")
        try:
            with urlopen(Request(self._url, body, headers), timeout=self._timeout) as answer:  # noqa: S310 - settings
                found: bytes = answer.read()
        except HTTPError as error:
            raise RerankerUnavailable(f"{self.name}: status {error.code}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise RerankerUnavailable(f"{self.name}: {error}") from error
        return found

    def _read(self, answer: bytes, count: int) -> list[float]:
        try:
            scores = {int(one["index"]): float(one["relevance_score"]) for one in json.loads(answer)["results"]}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RerankerUnavailable(f"{self.name}: expected results with index and relevance_score") from error
        if scores.keys() != set(range(count)) or not all(map(isfinite, scores.values())):
            raise RerankerUnavailable(f"{self.name}: expected one finite score for each of {count} texts")
        return [min(1.0, max(0.0, scores[place])) for place in range(count)]
