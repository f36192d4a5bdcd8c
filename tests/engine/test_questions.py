"""A model that reads questions in another way than what may answer them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from commonplace import AsyncMemory
from commonplace.ports.embedder import Vectors
from tests.backends import Backend


class Asking:
    """Knows one thing only: whether it is about tea. Of a question it knows that by the word `drink`."""

    identity, dimensions = "asking/2", 2

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[1.0, 0.0] if "tea" in text else [0.0, 1.0] for text in texts], np.float32)

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        return await self.embed(["tea" if "drink" in text else "" for text in texts])


@pytest.mark.backends("ledgers")
async def test_an_embedder_of_ones_own_may_read_questions_in_another_way(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), embedder=Asking()) as memory:
        for said in ("The harbour is windy", "What to drink?", "I like tea in the morning"):
            await memory.add(said, user="ana", learn=False)
        found = await memory.recall("What to drink?", user="ana", min_relevance=0, explain=True)
        ranks = {item.text: item.why.arms["dense"][0] for item in found if item.why}
        assert ranks["I like tea in the morning"] == 1, "the same words, kept, have another vector"
        assert (await memory.embed(["What to drink?"], user="ana")).tolist() == [[0.0, 1.0]]
