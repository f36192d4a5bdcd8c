"""Hosted embeddings over the real wire: batched, kept in the ledger, counted, and refused when they are wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonplace import AsyncMemory, EmbedderMismatch, EmbedderUnavailable, InvalidInput, ModelUnavailable
from commonplace.adapters.models.embedder import BATCH
from commonplace.settings import Settings
from commonplace.wiring import open_embedder
from tests.agents.conftest import Serve
from tests.agents.wire import DIMENSIONS, Fail, Service, vector_of

TEXTS = [f"text {n}" for n in range(BATCH + 4)]


def settings(service: Service, **given: Any) -> dict[str, Any]:
    return {
        "embedding_provider": "openai",
        "embedding_model": "small",
        "embedding_base_url": f"{service.url}/v1",
        "agent_retries": 0,
        **given,
    }


async def test_texts_go_in_batches_and_come_back_in_order_and_of_unit_length(serve: Serve) -> None:
    service = serve()
    async with open_embedder(Settings.from_sources(**settings(service)), None) as embedder:
        assert (embedder.identity, embedder.dimensions) == ("openai:small", DIMENSIONS)
        vectors = await embedder.embed([*TEXTS, "", "tea \udc00 and cake"])
        alone = await embedder.embed([TEXTS[7]])
    wanted = np.array(vector_of(TEXTS[7]), np.float32)
    assert np.allclose(vectors[7], wanted / np.linalg.norm(wanted), atol=1e-6) and np.allclose(vectors[7], alone[0])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert [len(batch) for batch in service.embedded] == [1, BATCH, 6, 1]


async def test_a_vector_is_kept_in_the_ledger_and_its_tokens_are_counted(serve: Serve, tmp_path: Path) -> None:
    service, given = serve(), {"embedding_dimensions": DIMENSIONS}
    for _ in range(2):
        async with AsyncMemory.open(tmp_path, **settings(service, **given)) as memory:
            await memory.add("Clouds over the harbour", user="u1", learn=False)
            assert [item.text for item in await memory.recall("Clouds over the harbour", user="u1")][:1]
            stats = await memory.stats()
    texts = [text for batch in service.embedded for text in batch]
    assert len(texts) == len(set(texts)) == 2  # the message with its day, and the question
    tokens = sum(len(text.split()) for text in texts)
    assert (stats.embedder, stats.learning.usage.input_tokens) == ("openai:small", tokens)


async def test_vectors_of_another_model_are_not_mixed_in(serve: Serve, tmp_path: Path) -> None:
    service = serve()
    async with AsyncMemory.open(tmp_path, **settings(service)) as memory:
        await memory.add("Hello", learn=False)
    with pytest.raises(EmbedderMismatch, match="'openai:small'"):
        await AsyncMemory.open(tmp_path, **settings(service, embedding_model="large"))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Fail(500), "status 500"),
        (Fail(429, "1"), "status 429"),
        ([[1.0, 2.0]], r"1 embeddings of \[2\] numbers: expected 1 of 8"),
        ([[0.0] * DIMENSIONS], "zeros"),
        ([[float("nan")] * DIMENSIONS], "no numbers"),
        ([], "0 embeddings"),
    ],
    ids=str,
)
async def test_what_is_wrong_is_refused_and_the_memory_goes_on_by_words(answer: Any, told: str, serve: Serve) -> None:
    service = serve()
    given = settings(service, embedding_dimensions=DIMENSIONS)
    service.embedding = lambda texts: answer
    async with open_embedder(Settings.from_sources(**given), None) as embedder:
        with pytest.raises(EmbedderUnavailable, match=told):
            await embedder.embed(["Hello"])
    async with AsyncMemory.ephemeral(**given) as memory:
        added = await memory.add("Clouds over the harbour", learn=False)
        assert [item.text for item in await memory.recall("harbour clouds")] == ["Clouds over the harbour"]
        assert added.messages


async def test_a_busy_service_is_asked_again_as_it_says(serve: Serve) -> None:
    service = serve()
    answers: list[Any] = [Fail(429, "0.01")]
    service.embedding = lambda texts: answers.pop() if answers else [vector_of(text) for text in texts]
    given = Settings.from_sources(**settings(service, embedding_dimensions=DIMENSIONS, agent_retries=1))
    async with open_embedder(given, None) as embedder:
        assert (await embedder.embed(["Hello"])).shape == (1, DIMENSIONS)
    assert len(service.embedded) == 2


async def test_a_missing_key_package_or_name_is_one_sentence() -> None:
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
        await AsyncMemory.ephemeral(embedding_provider="openai", embedding_model="text-embedding-3-small")
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'pydantic-ai-slim\[cohere\]'"):
        await AsyncMemory.ephemeral(embedding_provider="cohere", embedding_model="embed-v4.0")
    with pytest.raises(InvalidInput, match="embedding_provider='nobody'"):
        await AsyncMemory.ephemeral(embedding_provider="nobody", embedding_model="m")
    with pytest.raises(InvalidInput, match="expected all-MiniLM-L6-v2"):
        await AsyncMemory.ephemeral(embedding_model="other")
