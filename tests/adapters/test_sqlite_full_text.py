"""The full-text table beyond its port: what happens when it is large, falls behind, or is looked into."""

import sqlite3
from pathlib import Path

import pytest

from commonplace.adapters.sqlite import SqliteLedger, full_text
from commonplace.domain.errors import InvalidInput
from commonplace.ports.ledger import Change, NewMessage
from tests.contracts.ledger.full_text import COMMON, RARE, entry, message, unpack
from tests.contracts.ledger.values import ANA, a_message


async def test_many_rows_are_taken_in_by_several_transactions(tmp_path: Path) -> None:
    number = full_text.STEP * 2 + 7
    messages = [NewMessage(message=a_message(f"m{n}"), entries=(entry(COMMON, n),)) for n in range(number)]
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        await ledger.write(ANA, Change(messages=messages))
        await ledger.build_full_text(ANA)
        assert len(await ledger.matching(ANA, [COMMON], limit=number * 2)) == number
        assert await ledger.matching(ANA, [number - 1], limit=9) == [number]


async def test_a_full_text_that_fell_behind_is_not_used_until_it_is_built_again(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        await ledger.write(ANA, message("m1", (COMMON,)))
        await ledger.build_full_text(ANA)
    async with SqliteLedger(tmp_path / "ledger.db") as without:
        await without.write(ANA, message("m2", (COMMON,)))
        with pytest.raises(InvalidInput, match="unpack"):
            await without.build_full_text(ANA)
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        with pytest.raises(InvalidInput, match="not built"):
            await ledger.matching(ANA, [COMMON], limit=9)
        await ledger.build_full_text(ANA)
        assert set(await ledger.matching(ANA, [COMMON], limit=9)) == {1, 2}


async def test_a_gap_is_found_by_check(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        await ledger.build_full_text(ANA)
        await ledger.write(ANA, message("m1", (COMMON,)))
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("delete from full_text_docsize")
    connection.commit()
    connection.close()
    async with SqliteLedger(tmp_path / "ledger.db", unpack=unpack) as ledger:
        assert ["gaps in their full text" in finding.message for finding in await ledger.check()] == [True]


async def test_there_is_no_text_in_it(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", unpack=lambda terms: [RARE]) as ledger:
        await ledger.build_full_text(ANA)
        new = NewMessage(message=a_message("m1", "a very particular secret"), entries=(entry(RARE),))
        await ledger.write(ANA, Change(messages=[new]))
        assert await ledger.matching(ANA, [RARE], limit=9) == [1]
    assert (tmp_path / "ledger.db").read_bytes().count(b"a very particular secret") == 1
