"""What every Reranker must do. An adapter passes by subclassing and giving a `reranker` and a `broken` one."""

import pytest

from commonplace.domain.errors import RerankerUnavailable
from commonplace.ports.reranker import Reranker

QUERY, TEXTS = "which tools", ["the weather", "tools tools tools", "some tools"]


class RerankerContract:
    async def test_the_text_that_answers_gets_the_highest_score(self, reranker: Reranker) -> None:
        scores = await reranker.score(QUERY, TEXTS)

        assert len(scores) == 3
        assert max(scores) == scores[1]
        assert all(0 <= score <= 1 for score in scores)

    async def test_no_texts_have_no_scores(self, reranker: Reranker) -> None:
        assert list(await reranker.score(QUERY, [])) == []

    async def test_strange_texts_get_a_score_too(self, reranker: Reranker) -> None:
        assert len(await reranker.score("\ud800", ["", "\0", "私は 👩‍👩‍👧", "tools " * 5_000])) == 4

    async def test_a_failure_has_its_own_name(self, broken: Reranker) -> None:
        with pytest.raises(RerankerUnavailable):
            await broken.score(QUERY, TEXTS)
