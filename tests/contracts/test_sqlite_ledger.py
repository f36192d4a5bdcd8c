from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace.adapters.sqlite import SqliteLedger
from tests.contracts.ledger import LedgerContract
from tests.contracts.ledger.full_text import FullTextContract, unpack
from tests.contracts.ledger.models import ModelsContract
from tests.contracts.ledger.serving import ServingContract


def no_time_at_all() -> float:
    """A clock by which the disk is as quick as can be: short writes are done on the event loop, all but the first."""
    return 0.0


class TestSqliteLedger(LedgerContract):
    @pytest.fixture
    async def ledger(self, tmp_path: Path) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(tmp_path / "ledger.db", clock=no_time_at_all) as ledger:
            yield ledger

    @pytest.fixture
    async def ledger_that_keeps_3_embeddings(self, tmp_path: Path) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(tmp_path / "ledger.db", embeddings_kept=3, clock=no_time_at_all) as ledger:
            yield ledger


class TestPrivateSqliteLedger(LedgerContract):
    """Everything is done on its one thread."""

    @pytest.fixture
    async def ledger(self) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(None) as ledger:
            yield ledger

    @pytest.fixture
    async def ledger_that_keeps_3_embeddings(self) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(None, embeddings_kept=3) as ledger:
            yield ledger


class TestSqliteFullText(FullTextContract):
    @pytest.fixture
    async def ledger(self, tmp_path: Path) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
            yield ledger


class TestSqliteServing(ServingContract):
    @pytest.fixture
    async def ledger(self, tmp_path: Path) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(tmp_path / "ledger.db") as ledger:
            yield ledger


class TestSqliteModels(ModelsContract):
    @pytest.fixture
    async def ledger(self, tmp_path: Path) -> AsyncIterator[SqliteLedger]:
        async with SqliteLedger(tmp_path / "ledger.db") as ledger:
            yield ledger
