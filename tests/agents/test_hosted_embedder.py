"""Hosted embeddings over the real wire: batched, kept in the ledger, counted, and refused when they are wrong."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commonplace import AsyncMemory, EmbedderMismatch, EmbedderUnavailable, InvalidInput, ModelUnavailable
from commonplace.adapters.models.embedder import BATCH, LONGEST
from commonplace.settings import Settings
from commonplace.wiring import open_embedder
from tests.agents.conftest import Serve
from tests.agents.wire import DIMENSIONS, Fail, Service, Sleep, vector_of

TEXTS = [f"text {n}" for n in range(BATCH + 4)]


PROVIDERS = ("openai", "cohere", "google")


def settings(service: Service, provider: str = "openai", **given: Any) -> dict[str, Any]:
    return {
        "embedding_provider": provider,
        "embedding_model": "small",
        "embedding_base_url": f"{service.url}/v1" if provider == "openai" else service.url,
        "agent_retries": 0,
        **given,
    }


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_texts_go_in_batches_and_come_back_in_order_and_of_unit_length(provider: str, serve: Serve) -> None:
    service = serve()
    async with open_embedder(Settings.from_sources(**settings(service, provider)), None) as embedder:
        assert (embedder.identity, embedder.dimensions) == (f"{provider}:small", DIMENSIONS)
        vectors = await embedder.embed([*TEXTS, "", "tea \udc00 and cake"])
        alone = await embedder.embed([TEXTS[7]])
    wanted = np.array(vector_of(TEXTS[7]), np.float32)
    assert np.allclose(vectors[7], wanted / np.linalg.norm(wanted), atol=1e-6) and np.allclose(vectors[7], alone[0])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert [len(batch) for batch in service.embedded] == [1, BATCH, 6, 1]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_vector_is_kept_in_the_ledger_and_its_tokens_are_counted(
    provider: str, serve: Serve, tmp_path: Path
) -> None:
    service, given = serve(), {"embedding_dimensions": DIMENSIONS}
    for _ in range(2):
        async with AsyncMemory.open(tmp_path, **settings(service, provider, **given)) as memory:
            await memory.add("Clouds over the harbour", user="u1", learn=False)
            assert [item.text for item in await memory.recall("Clouds over the harbour", user="u1")][:1]
            stats = await memory.stats()
    texts = [text for batch in service.embedded for text in batch]
    assert len(texts) == len(set(texts)) == 2  # the message with its day, and the question
    # The Gemini API does not say how many it read.
    estimated = sum(-(-len(text.encode()) // 4) for text in texts)
    tokens = estimated if provider == "google" else sum(len(text.split()) for text in texts)
    assert (stats.embedder, stats.learning.usage.input_tokens) == (f"{provider}:small", tokens)


def kinds(body: Any) -> set[str | None]:
    """Return what the texts of a request are said to be for; None where the service does not ask."""
    return {one.get("taskType") for one in body["requests"]} if "requests" in body else {body.get("input_type")}


@pytest.mark.parametrize(
    ("provider", "kept", "asked"),
    [
        ("openai", None, None),
        ("cohere", "search_document", "search_query"),
        ("google", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
    ],
)
async def test_a_question_is_embedded_as_one_where_the_service_tells_them_apart(
    provider: str, kept: str | None, asked: str | None, serve: Serve, tmp_path: Path
) -> None:
    service, given = serve(), {"embedding_dimensions": DIMENSIONS}
    async with AsyncMemory.open(tmp_path, **settings(service, provider, **given)) as memory:
        await memory.remember("Clouds over the harbour", user="u1")
        await memory.reindex()
        for _ in range(2):
            await memory.recall("Clouds over the harbour", user="u1")
    said = [(texts, kinds(body)) for texts, body in zip(service.embedded, service.bodies, strict=True)]
    as_kept, as_asked = (["Clouds over the harbour"], {kept}), (["Clouds over the harbour"], {asked})
    assert said == ([as_kept] if kept == asked else [as_kept, as_asked]), "each is asked for once"


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
        (Fail(401), "status 401"),
        (Fail(429, "1"), "status 429"),
        (Sleep(30), "in time"),
        ([[1.0, 2.0]], r"1 embeddings of \[2\] numbers: expected 1 of 8"),
        ([[0.0] * DIMENSIONS], "zeros"),
        ([[float("nan")] * DIMENSIONS], "no numbers"),
        ([], "0 embeddings"),
    ],
    ids=str,
)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_is_wrong_is_refused_and_the_memory_goes_on_by_words(
    provider: str, answer: Any, told: str, serve: Serve
) -> None:
    service = serve()
    given = settings(
        service, provider, embedding_dimensions=DIMENSIONS, agent_timeout=0.5 if answer == Sleep(30) else 60
    )
    service.embedding = lambda texts: answer
    async with open_embedder(Settings.from_sources(**given), None) as embedder:
        with pytest.raises(EmbedderUnavailable, match=told):
            await embedder.embed(["Hello"])
    async with AsyncMemory.ephemeral(**given) as memory:
        added = await memory.add("Clouds over the harbour", learn=False)
        assert [item.text for item in await memory.recall("harbour clouds")] == ["Clouds over the harbour"]
        assert added.messages


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_busy_service_is_asked_again_as_it_says(provider: str, serve: Serve) -> None:
    service = serve()
    answers: list[Any] = [Fail(429, "1" if provider == "cohere" else "0.01")]  # cohere's SDK knows whole seconds only
    service.embedding = lambda texts: answers.pop() if answers else [vector_of(text) for text in texts]
    given = Settings.from_sources(**settings(service, provider, embedding_dimensions=DIMENSIONS, agent_retries=1))
    async with open_embedder(given, None) as embedder:
        assert (await embedder.embed(["Hello"])).shape == (1, DIMENSIONS)
    assert len(service.embedded) == 2


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "text-embedding-3-small"), ("cohere", "embed-v4.0"), ("google", "gemini-embedding-001")],
)
async def test_vectors_are_shortened_by_their_service_and_never_mixed_with_whole_ones(
    provider: str, model: str, serve: Serve, tmp_path: Path
) -> None:
    service = serve()
    given = settings(service, provider, embedding_model=model, embedding_dimensions=DIMENSIONS)
    async with AsyncMemory.open(tmp_path, **given) as memory:
        await memory.add("Clouds over the harbour", learn=False)
        assert (await memory.stats()).embedder == f"{provider}:{model}/{DIMENSIONS}"
    (body,) = service.bodies
    asked = {**body, **body.get("requests", [{}])[0]}
    assert [asked.get(name) for name in ("dimensions", "output_dimension", "outputDimensionality")].count(8) == 1
    with pytest.raises(EmbedderMismatch):
        await AsyncMemory.open(tmp_path, **{**given, "embedding_dimensions": None})


async def test_long_texts_go_in_smaller_batches(serve: Serve) -> None:
    service = serve()
    given = settings(service, embedding_dimensions=DIMENSIONS)
    async with open_embedder(Settings.from_sources(**given), None) as embedder:
        await embedder.embed([f"{n} " + "long " * 10_000 for n in range(10)])
    assert [len(batch) for batch in service.embedded] == [8, 2]
    assert max(len(text) for batch in service.embedded for text in batch) == LONGEST


async def test_a_key_of_the_settings_is_the_one_that_is_sent(serve: Serve) -> None:
    for provider, header, sent in (
        ("openai", "authorization", "Bearer secret"),
        ("cohere", "authorization", "Bearer secret"),
        ("google", "x-goog-api-key", "secret"),
    ):
        service = serve()
        given = settings(service, provider, **{f"{provider}_api_key": "secret"})
        async with open_embedder(Settings.from_sources(**given), None) as embedder:
            assert (await embedder.embed(["Hello"])).shape == (1, DIMENSIONS)
        assert {headers[header] for headers in service.headers} == {sent}


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("cohere", "CO_API_KEY"), ("google", "GOOGLE_API_KEY")]
)
async def test_a_missing_key_is_one_sentence(provider: str, variable: str) -> None:
    told = f"no key for embedding_provider='{provider}': set {variable}, or unset EMBEDDING_PROVIDER"
    with pytest.raises(EmbedderUnavailable, match=told):
        await AsyncMemory.ephemeral(embedding_provider=provider, embedding_model="m")
    told = f"no key for agent_model='{provider}:m': set {variable}, or unset AGENT_MODEL to learn by rules"
    with pytest.raises(ModelUnavailable, match=told):
        await AsyncMemory.ephemeral(agent_model=f"{provider}:m")


@pytest.mark.parametrize(
    ("package", "provider", "command"),
    [
        ("pydantic_ai", "openai", "commonplace[models]"),
        ("openai", "openai", "commonplace[models]"),
        ("google.auth", "google", "commonplace[google]"),
        ("cohere", "cohere", "commonplace[cohere]"),
        ("mistralai", "mistral", "pydantic-ai-slim[mistral]"),
    ],
)
async def test_a_missing_package_is_one_sentence(
    package: str, provider: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew = (f"{package}.", "commonplace.adapters.models.")
    for name in [name for name in sys.modules if name == package or name.startswith(anew)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    said = re.escape(f"pip install '{command}'") + "$"
    with pytest.raises(EmbedderUnavailable, match=said):
        await AsyncMemory.ephemeral(embedding_provider=provider, embedding_model="m")
    with pytest.raises(ModelUnavailable, match=said):
        await AsyncMemory.ephemeral(model=f"{provider}:m")


async def test_a_name_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="embedding_provider='nobody'"):
        await AsyncMemory.ephemeral(embedding_provider="nobody", embedding_model="m")
    with pytest.raises(InvalidInput, match="'openai': set embedding_model, too, as text-embedding-3-small"):
        await AsyncMemory.ephemeral(embedding_provider="openai")
    with pytest.raises(InvalidInput, match="agent_model='openai:': expected PROVIDER:MODEL"):
        await AsyncMemory.ephemeral(model="openai:")
    with pytest.raises(InvalidInput, match="expected all-MiniLM-L6-v2"):
        await AsyncMemory.ephemeral(embedding_model="other")
