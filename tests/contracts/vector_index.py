"""What every VectorIndex must do. An adapter passes by subclassing and giving an `index`."""

import asyncio

import numpy as np
import pytest

from commonplace.domain.errors import IndexUnavailable
from commonplace.ports.index import VectorIndex
from commonplace.ports.ledger import Vector

ANA, BEN = "commonplace-test-1", "commonplace-test-2"
SIZE = 16
CLOSE = 0.001
"""An index may move a vector by less than this, to keep equal ones apart."""


def axis(at: int, *, towards: int | None = None, by: float = 0.0) -> Vector:
    """Return a vector of unit length along one axis, leaning towards another."""
    vector = np.zeros(SIZE, np.float32)
    vector[at] = 1.0
    if towards is not None:
        vector[towards] = by
    return vector / np.float32(np.linalg.norm(vector))


def cloud(rows: int, *, size: int = 32, seed: int = 1) -> dict[int, Vector]:
    """Return vectors of unit length that crowd together a little, as those of sentences do."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((rows, size)) + 0.5 * random.standard_normal(size)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return dict(enumerate(matrix.astype(np.float32), start=1))


async def found(index: VectorIndex, collection: str, vector: Vector, *, limit: int = 10) -> list[int]:
    return [row.n for row in await index.search(collection, vector, limit=limit)]


class VectorIndexContract:
    async def test_what_was_upserted_is_found_at_once_the_nearest_first(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {3: axis(0), 1: axis(1), 2: axis(0, towards=1, by=0.5)})
        assert await found(index, ANA, axis(0)) == [3, 2, 1]

    async def test_scores_are_half_of_one_plus_the_cosine(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0), 2: axis(1), 3: -axis(0), 4: axis(0, towards=1, by=1.0)})
        scores = dict(await index.search(ANA, axis(0), limit=10))
        assert scores == pytest.approx({1: 1.0, 4: (1 + 0.5**0.5) / 2, 2: 0.5, 3: 0.0}, abs=CLOSE)
        assert all(0 <= score <= 1 for score in scores.values())

    async def test_the_length_of_a_vector_does_not_count(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0) * np.float32(7), 2: axis(1)})
        (best, *_) = await index.search(ANA, axis(0) * np.float32(0.1), limit=2)
        assert best.n == 1
        assert best.score == pytest.approx(1.0, abs=CLOSE)

    async def test_a_search_returns_no_more_than_its_limit_and_no_more_than_there_is(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {n: axis(n) for n in range(5)})
        assert len(await found(index, ANA, axis(0), limit=2)) == 2
        assert len(await found(index, ANA, axis(0), limit=500)) == 5

    @pytest.mark.parametrize("limit", [0, -1])
    async def test_a_limit_below_one_finds_nothing(self, index: VectorIndex, limit: int) -> None:
        await index.upsert(ANA, {1: axis(0)})
        assert await found(index, ANA, axis(0), limit=limit) == []

    async def test_an_upsert_replaces_the_row_of_its_number(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0), 2: axis(1)})
        await index.upsert(ANA, {1: axis(2)})
        assert await found(index, ANA, axis(2), limit=1) == [1]
        assert await found(index, ANA, axis(1), limit=1) == [2]
        assert await index.numbers(ANA) == {1, 2}

    async def test_doing_it_twice_changes_nothing(self, index: VectorIndex) -> None:
        for _ in range(2):
            await index.upsert(ANA, {1: axis(0), 2: axis(1)})
        for _ in range(2):
            await index.remove(ANA, [2])
        assert await index.numbers(ANA) == {1}
        assert await found(index, ANA, axis(1)) == [1]

    async def test_an_upsert_of_nothing_is_no_error(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {})
        assert await index.numbers(ANA) == frozenset()

    async def test_what_was_removed_is_not_found_again(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0), 2: axis(1)})
        await index.remove(ANA, [1])
        assert await found(index, ANA, axis(0)) == [2]

    async def test_removing_what_is_not_there_is_no_error(self, index: VectorIndex) -> None:
        await index.remove(ANA, [1])
        await index.upsert(ANA, {1: axis(0)})
        await index.remove(ANA, [7, 8])
        await index.remove(ANA, [])
        assert await index.numbers(ANA) == {1}

    async def test_a_removed_number_can_come_back(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0), 2: axis(3)})
        await index.remove(ANA, [1])
        await index.upsert(ANA, {1: axis(5)})
        assert await found(index, ANA, axis(5), limit=1) == [1]

    async def test_large_numbers_come_back_as_they_were(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {2**32 - 1: axis(0), 10**12: axis(1)})
        assert await index.numbers(ANA) == {2**32 - 1, 10**12}
        assert await found(index, ANA, axis(1), limit=1) == [10**12]

    async def test_one_collection_never_answers_for_another(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0)})
        await index.upsert(BEN, {2: axis(0)})
        assert await found(index, ANA, axis(0)) == [1]
        assert await found(index, BEN, axis(0)) == [2]

    async def test_a_collection_that_is_not_there_is_empty(self, index: VectorIndex) -> None:
        assert await found(index, ANA, axis(0)) == []
        assert await index.numbers(ANA) == frozenset()
        await index.drop(ANA)

    async def test_collections_are_listed_with_their_sizes(self, index: VectorIndex) -> None:
        assert await index.collections() == {}
        await index.upsert(ANA, {1: axis(0), 2: axis(1)})
        await index.identity(BEN)
        assert await index.collections() == {ANA: 2, BEN: 0}

    async def test_a_dropped_collection_is_gone_and_another_one_under_its_name_is_new(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0)})
        first = await index.identity(ANA)
        await index.drop(ANA)
        assert await index.collections() == {}
        await index.upsert(ANA, {2: axis(1)})
        assert await index.numbers(ANA) == {2}
        assert await index.identity(ANA) != first

    async def test_a_collection_keeps_its_identity_and_shares_it_with_no_other(self, index: VectorIndex) -> None:
        before = await index.identity(ANA)
        await index.upsert(ANA, {1: axis(0)})
        assert await index.identity(ANA) == before
        assert await index.identity(BEN) != before
        assert before.startswith(index.name + ":")

    async def test_an_erased_collection_is_gone_and_the_others_stay(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0)})
        await index.upsert(BEN, {2: axis(0)})
        before = await index.identity(ANA)
        assert await index.erase(ANA) == 0
        assert await index.collections() == {BEN: 1}
        assert await found(index, BEN, axis(0)) == [2]
        assert await index.identity(ANA) != before
        assert await index.erase(ANA) == 0

    async def test_a_search_may_insist_on_the_collection_it_knows(self, index: VectorIndex) -> None:
        known = await index.identity(ANA)
        await index.upsert(ANA, {1: axis(0)})
        assert [row.n for row in await index.search(ANA, axis(0), limit=1, identity=known)] == [1]
        await index.drop(ANA)
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, axis(0), limit=1, identity=known)
        await index.upsert(ANA, {1: axis(0)})
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, axis(0), limit=1, identity=known)

    async def test_rows_meant_for_a_collection_never_reach_the_one_that_took_its_place(
        self, index: VectorIndex
    ) -> None:
        await index.upsert(ANA, {1: axis(0)})
        known = await index.identity(ANA)
        await index.upsert(ANA, {2: axis(1)}, identity=known)
        assert await index.numbers(ANA) == {1, 2}
        await index.erase(ANA)
        with pytest.raises(IndexUnavailable):
            await index.upsert(ANA, {3: axis(2)}, identity=known)
        assert await index.numbers(ANA) == frozenset()
        await index.upsert(ANA, {4: axis(3)})
        with pytest.raises(IndexUnavailable):
            await index.upsert(ANA, {5: axis(4)}, identity=known)
        assert await index.numbers(ANA) == {4}

    async def test_of_a_thousand_rows_each_one_asked_for_is_found_first(self, index: VectorIndex) -> None:
        rows = cloud(1_000)
        await index.upsert(ANA, rows)
        assert await index.numbers(ANA) == rows.keys()
        assert {n for n in list(rows)[::4] if await found(index, ANA, rows[n], limit=1) != [n]} == set()

    async def test_many_equal_rows_do_not_hide_the_others(self, index: VectorIndex) -> None:
        """Without care, 1,500 copies of "ok" cut the others out of an HNSW graph."""
        others = cloud(1_000)
        copies = dict.fromkeys(range(2_000, 3_500), others[1])
        mixed = [*others.items(), *copies.items()]
        order = np.random.default_rng(5).permutation(len(mixed))
        await index.upsert(ANA, dict(mixed[at] for at in order))
        lost = [n for n in range(2, 1_001, 2) if await found(index, ANA, others[n], limit=1) != [n]]
        assert len(lost) <= 5

    async def test_calls_at_the_same_moment_do_not_disturb_each_other(self, index: VectorIndex) -> None:
        rows = cloud(60)
        await asyncio.gather(*(index.upsert(ANA, {n: vector}) for n, vector in rows.items()))
        answers = await asyncio.gather(*(found(index, ANA, vector, limit=1) for vector in rows.values()))
        assert answers == [[n] for n in rows]

    async def test_whoever_has_it_open_owns_it(self, index: VectorIndex) -> None:
        assert index.owned
        assert index.try_own()

    async def test_once_closed_nothing_answers(self, index: VectorIndex) -> None:
        await index.upsert(ANA, {1: axis(0)})
        await index.close()
        await index.close()
        assert not index.owned
        with pytest.raises(IndexUnavailable):
            await index.search(ANA, axis(0), limit=1)
        with pytest.raises(IndexUnavailable):
            await index.upsert(ANA, {2: axis(0)})
