from commonplace.ports.ledger import Ledger
from tests.contracts.ledger.values import START, a_vector, later


class EmbeddingCacheContract:
    async def test_a_cached_vector_is_found_by_model_and_digest(self, ledger: Ledger) -> None:
        await ledger.cache_embeddings("model a", {b"1": a_vector(1), b"2": a_vector(2)}, now=START)
        await ledger.cache_embeddings("model b", {b"1": a_vector(3)}, now=START)
        assert await ledger.cached_embeddings("model a", [b"2", b"9", b"1"]) == {
            b"1": a_vector(1).tobytes(),
            b"2": a_vector(2).tobytes(),
        }
        assert await ledger.cached_embeddings("model b", [b"1", b"2"]) == {b"1": a_vector(3).tobytes()}
        assert await ledger.cached_embeddings("model c", [b"1"]) == {}
        assert await ledger.cached_embeddings("model a", []) == {}

    async def test_caching_twice_is_no_error(self, ledger: Ledger) -> None:
        await ledger.cache_embeddings("model", {b"1": a_vector(1)}, now=START)
        await ledger.cache_embeddings("model", {b"1": a_vector(1)}, now=later(1))
        assert await ledger.cached_embeddings("model", [b"1"]) == {b"1": a_vector(1).tobytes()}

    async def test_the_oldest_go_when_it_is_full(self, ledger_that_keeps_3_embeddings: Ledger) -> None:
        ledger = ledger_that_keeps_3_embeddings
        for n in range(5):
            await ledger.cache_embeddings("model", {b"%d" % n: a_vector(n)}, now=later(n))
        assert set(await ledger.cached_embeddings("model", [b"%d" % n for n in range(5)])) == {b"2", b"3", b"4"}
