"""Forgetting what is in SQLite's full text: row by row where the words can be read, all of it where they cannot."""

from pathlib import Path

import pytest

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.errors import InvalidInput
from commonplace.domain.receipts import Part
from commonplace.domain.values import MessageId
from commonplace.ports.erasure import Removal
from tests.contracts.ledger.full_text import COMMON, message, unpack
from tests.contracts.ledger.values import ANA, BEN, later

GONE = Removal(id="e1", what=Part(message=MessageId("m1")), at=later(0), messages=[MessageId("m1")])


async def fill(ledger: SqliteLedger) -> None:
    """Fill the full text with rows of two users that have all the same words."""
    for user in (ANA, BEN):
        await ledger.write(user, message("m1", (COMMON,)), message("m2", (COMMON,)))
        await ledger.build_full_text(user)


async def test_a_forgotten_row_leaves_the_full_text_and_the_others_stay(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        await fill(ledger)
        erased = await ledger.erase(ANA, GONE)
        await ledger.scrub()
        assert erased.counts["full_text"] == 1
        assert await ledger.remains(erased) == 0
        assert await ledger.matching(ANA, [COMMON], limit=10) == [2]
        assert sorted(await ledger.matching(BEN, [COMMON], limit=10)) == [1, 2]
        assert await ledger.check() == []


async def test_where_the_words_cannot_be_read_the_full_text_is_built_again(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        await fill(ledger)
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        erased = await ledger.erase(ANA, GONE)
        assert await ledger.remains(erased) == 0
        assert await ledger.check() == []
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        with pytest.raises(InvalidInput):
            await ledger.matching(BEN, [COMMON], limit=10)
        await ledger.build_full_text(BEN)
        assert sorted(await ledger.matching(BEN, [COMMON], limit=10)) == [1, 2]
