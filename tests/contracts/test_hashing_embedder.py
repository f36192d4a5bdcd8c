import numpy as np
import pytest

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import InvalidInput
from tests.contracts.embedder import EmbedderContract


class TestHashEmbedder(EmbedderContract):
    @pytest.fixture(params=[64, 384])
    def embedder(self, request: pytest.FixtureRequest) -> HashEmbedder:
        return HashEmbedder(dimensions=request.param)


async def test_a_vector_is_the_same_on_every_machine_and_in_every_version() -> None:
    (row,) = await HashEmbedder(8).embed(["tea"])
    assert np.sign(row).tolist() == [1, -1, 1, -1, -1, -1, 1, -1]


async def test_words_that_cancel_each_other_out_still_give_a_direction() -> None:
    embedder = HashEmbedder(8)
    words = [f"word{n}" for n in range(2_000)]
    rows = await embedder.embed(words)
    opposite = next(n for n, row in enumerate(rows) if np.allclose(row, -rows[0]))
    (both,) = await embedder.embed([f"{words[0]} {words[opposite]}"])
    assert np.isclose(np.linalg.norm(both), 1)


async def test_the_order_and_case_of_words_do_not_matter() -> None:
    one, other = await HashEmbedder().embed(["Tea with Milk", "milk, with tea!"])
    assert np.allclose(one, other)


def test_the_identity_says_how_many_dimensions() -> None:
    assert HashEmbedder(128).identity == "hash/128"


def test_too_few_dimensions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="dimensions=4"):
        HashEmbedder(4)
