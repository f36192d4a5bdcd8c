import pytest

from commonplace.adapters.inmemory.index import InMemoryIndex
from tests.contracts.vector_index import VectorIndexContract


class TestInMemoryIndex(VectorIndexContract):
    @pytest.fixture
    def index(self) -> InMemoryIndex:
        return InMemoryIndex()
