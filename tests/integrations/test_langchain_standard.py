"""The suites that LangChain publishes for a vector store and a retriever, on ours: no test is left out or changed."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

from commonplace import Memory
from commonplace.integrations.langchain import MemoryRetriever, MemoryVectorStore


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[MemoryVectorStore]:
        with Memory.ephemeral(embedder=self.get_embeddings().embed_documents) as memory:
            yield MemoryVectorStore(memory, user="alex")


@pytest.fixture(scope="module")
def pets() -> Iterator[Memory]:
    with Memory.ephemeral() as memory:
        for pet in ("a cat", "a dog", "a parrot", "two fish"):
            memory.remember(f"Alex has {pet} as a pet", user="alex")
        yield memory


class TestRetriever(RetrieversIntegrationTests):
    memory: Memory

    @pytest.fixture(autouse=True)
    def known(self, pets: Memory) -> None:
        self.memory = pets

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return MemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory, "user": "alex"}

    @property
    def retriever_query_example(self) -> str:
        return "Which pets does Alex have?"
