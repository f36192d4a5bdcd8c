import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from commonplace.adapters.onnx.build import build_model
from commonplace.adapters.onnx.embedder import OnnxEmbedder
from commonplace.adapters.onnx.model_files import ModelFiles
from commonplace.adapters.onnx.progress import Progress
from commonplace.domain.errors import Closed, EmbedderUnavailable
from tests.adapters.local_model import local_model
from tests.contracts.embedder import COMPANY, HOSTILE, TOOLS, EmbedderContract


@pytest.fixture(scope="module")
async def loaded() -> AsyncIterator[OnnxEmbedder]:
    async with OnnxEmbedder(local_model()) as embedder:
        yield embedder


class TestOnnxEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, loaded: OnnxEmbedder) -> OnnxEmbedder:
        return loaded


async def test_company_does_not_change_a_single_bit(loaded: OnnxEmbedder) -> None:
    texts = [*COMPANY, *HOSTILE.values(), TOOLS]
    together = await loaded.embed(texts)
    alone = np.concatenate([await loaded.embed([text]) for text in texts])
    assert np.array_equal(together, alone)


async def test_a_reading_shows_each_word_and_the_vector_of_its_pieces(loaded: OnnxEmbedder) -> None:
    (reading,) = await loaded.read(["Strawberries, unbelievable!"])
    assert "strawberries" in reading.words
    assert "unbelievable" in reading.words
    assert reading.tokens.shape == (len(reading.words), loaded.dimensions)
    assert not any(mark in reading.words for mark in ("[CLS]", "[SEP]", ""))
    assert np.array_equal(reading.vector, (await loaded.embed(["Strawberries, unbelievable!"]))[0])


async def test_similarities_are_those_that_the_model_is_published_with(loaded: OnnxEmbedder) -> None:
    weather, sunny, stadium = await loaded.embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    # The model card's example, computed there in float32.
    assert weather @ sunny == pytest.approx(0.6660, abs=0.03)
    assert weather @ stadium == pytest.approx(0.1046, abs=0.03)
    assert sunny @ stadium == pytest.approx(0.1411, abs=0.03)


async def test_words_after_the_256th_piece_are_not_read(loaded: OnnxEmbedder) -> None:
    once, longer = await loaded.embed(["tea " * 254, "tea " * 254 + "peanut butter"])
    assert np.array_equal(once, longer)
    shorter, different = await loaded.embed(["tea " * 150, "tea " * 150 + "peanut butter"])
    assert not np.array_equal(shorter, different)


async def test_the_event_loop_runs_on_while_the_model_loads_and_works() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    async with OnnxEmbedder(local_model()) as embedder:
        ticking = asyncio.create_task(tick())
        await embedder.embed([text for text in COMPANY for _ in range(8)])
        ticking.cancel()
    assert ticks > 20


async def test_one_embedder_serves_several_event_loops() -> None:
    async with OnnxEmbedder(local_model()) as embedder:

        def in_its_own_loop() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
            return asyncio.run(embedder.embed([TOOLS]))

        answers = await asyncio.gather(*(asyncio.to_thread(in_its_own_loop) for _ in range(3)), embedder.embed([TOOLS]))
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


async def test_after_closing_nothing_is_embedded() -> None:
    embedder = OnnxEmbedder(local_model())
    await embedder.embed([TOOLS])
    await embedder.close()
    with pytest.raises(Closed):
        await embedder.embed([TOOLS])


async def test_the_error_without_a_model_gives_the_command_that_fetches_it(tmp_path: Path) -> None:
    async with OnnxEmbedder(ModelFiles(tmp_path, build=build_model, sources=())) as embedder:
        with pytest.raises(EmbedderUnavailable, match="`commonplace model fetch`"):
            await embedder.embed([TOOLS])
        assert (await embedder.embed([])).shape == (0, embedder.dimensions)


class Elsewhere:
    """A source that counts how often it was asked, and never has anything."""

    label = "elsewhere"

    def __init__(self) -> None:
        self.asked = 0

    def obtain(self, into: Path, progress: Progress) -> None:
        self.asked += 1
        raise EmbedderUnavailable("nothing here")


async def test_a_model_that_cannot_be_had_is_not_asked_for_again_at_once(tmp_path: Path) -> None:
    elsewhere, now = Elsewhere(), [100.0]
    files = ModelFiles(tmp_path, build=build_model, sources=[elsewhere])
    async with OnnxEmbedder(files, retry_after=60, clock=lambda: now[0]) as embedder:
        for later, asked in ((0, 1), (59, 1), (61, 2)):
            now[0] = 100.0 + later
            with pytest.raises(EmbedderUnavailable, match="elsewhere: nothing here"):
                await embedder.embed([TOOLS])
            assert elsewhere.asked == asked


async def test_a_model_that_does_not_run_is_an_error_of_the_embedder(tmp_path: Path) -> None:
    def build_nonsense(_: Path, target: Path, __: Progress) -> None:
        target.write_bytes(b"not a graph")

    class Originals:
        label = "originals"

        def obtain(self, into: Path, progress: Progress) -> None:
            (into / "tokenizer.json").write_bytes(local_model().load().tokenizer)

    files = ModelFiles(tmp_path, build=build_nonsense, sources=[Originals()])
    async with OnnxEmbedder(files) as embedder:
        with pytest.raises(EmbedderUnavailable, match="InvalidProtobuf"):
            await embedder.embed([TOOLS])
