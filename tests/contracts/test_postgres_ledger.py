from collections.abc import AsyncIterator

import pytest

from commonplace.adapters.postgres import PostgresLedger
from tests.contracts.ledger import LedgerContract
from tests.contracts.ledger.full_text import FullTextContract, unpack
from tests.contracts.ledger.models import ModelsContract
from tests.contracts.ledger.serving import ServingContract


class TestPostgresLedger(LedgerContract):
    @pytest.fixture
    async def ledger(self, postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
        async with PostgresLedger(postgres_emptied) as ledger:
            yield ledger

    @pytest.fixture
    async def ledger_that_keeps_3_embeddings(self, postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
        async with PostgresLedger(postgres_emptied, embeddings_kept=3) as ledger:
            yield ledger


class TestPostgresFullText(FullTextContract):
    @pytest.fixture
    async def ledger(self, postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
        async with PostgresLedger(postgres_emptied, unpack=unpack) as ledger:
            yield ledger


class TestPostgresServing(ServingContract):
    @pytest.fixture
    async def ledger(self, postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
        async with PostgresLedger(postgres_emptied) as ledger:
            yield ledger


class TestPostgresModels(ModelsContract):
    @pytest.fixture
    async def ledger(self, postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
        async with PostgresLedger(postgres_emptied) as ledger:
            yield ledger
