import pytest

from commonplace.adapters.inmemory import InMemoryLedger
from tests.contracts.ledger import LedgerContract
from tests.contracts.ledger.models import ModelsContract
from tests.contracts.ledger.serving import ServingContract


class TestInMemoryLedger(LedgerContract):
    @pytest.fixture
    def ledger(self) -> InMemoryLedger:
        return InMemoryLedger()

    @pytest.fixture
    def ledger_that_keeps_3_embeddings(self) -> InMemoryLedger:
        return InMemoryLedger(embeddings_kept=3)


class TestInMemoryServing(ServingContract):
    @pytest.fixture
    def ledger(self) -> InMemoryLedger:
        return InMemoryLedger()


class TestInMemoryModels(ModelsContract):
    @pytest.fixture
    def ledger(self) -> InMemoryLedger:
        return InMemoryLedger()
