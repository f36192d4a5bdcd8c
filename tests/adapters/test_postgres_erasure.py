"""Which bytes of a forgotten text are left in the files of a PostgreSQL server, and that the ledger says so."""

import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from commonplace.adapters.postgres import PostgresLedger, scrubbing
from commonplace.domain.archive import KeptMessage
from commonplace.domain.errors import LedgerUnavailable
from commonplace.domain.receipts import Part
from commonplace.domain.values import Block
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import Change, NewMessage
from tests.contracts.ledger.values import ANA, BEN, a_message, an_entry, later
from tests.servers import database_of, run_sql

WORD = "Zanzibarium"
ALL_OF_ANA = Removal(id="e1", what=Part(), at=later(100))


@pytest.fixture
def folder(postgres_files: tuple[Path, str]) -> Path:
    return postgres_files[0]


@pytest.fixture
async def database(postgres_files: tuple[Path, str]) -> AsyncIterator[str]:
    _, server = postgres_files
    run_sql(server, "create database memory owner app")
    run_sql(database_of(server, "memory"), "create extension vector")
    yield database_of(server, "memory")
    run_sql(server, "drop database memory with (force)")


def found(folder: Path, word: str = WORD) -> dict[str, int]:
    """Return the parts of the server that have the word in one of their files, and how often."""
    counts: dict[str, int] = {}
    for file in folder.rglob("*"):
        if file.is_file() and (number := file.read_bytes().count(word.encode())):
            part = file.relative_to(folder).parts[0]
            counts[part] = counts.get(part, 0) + number
    return counts


async def filled(ledger: PostgresLedger) -> None:
    """Much of two users, side by side on the same pages; some of it so long that it is kept elsewhere."""
    for start in range(0, 60, 10):
        for scope, word in ((ANA, WORD), (BEN, "ordinary")):
            await ledger.write(scope, Change(messages=[a_text(word, n) for n in range(start, start + 10)]))
    await ledger.set_block(ANA, Block(name="profile", text=WORD, order=0, updated_at=later(0)))


def a_text(word: str, n: int) -> NewMessage:
    long = os.urandom(2_500).hex() if n % 10 == 0 else ""
    told = a_message(f"m{n}", f"{word} {n} {long}", metadata={"topic": word})
    return NewMessage(message=told, entries=(an_entry(n),))


async def test_no_byte_is_left_where_the_server_lets_go_of_its_log(database: str, folder: Path) -> None:
    async with PostgresLedger(database) as ledger:
        await filled(ledger)
        run_sql(database, "checkpoint", "analyze")
        assert set(found(folder)) == {"base", "pg_wal"}
        await ledger.erase(ANA, ALL_OF_ANA)
        run_sql(database, "vacuum", "checkpoint")
        assert found(folder)["base"] > 0
        assert await ledger.scrub() == [scrubbing.ELSEWHERE]
        assert found(folder) == {}
        assert len((await ledger.feed(BEN)).messages) == 60
        assert [one for one in await ledger.check() if one.severity != "note"] == []


async def test_no_byte_is_left_of_long_texts_where_the_server_has_cleaned_the_rest(database: str, folder: Path) -> None:
    async with PostgresLedger(database) as ledger:
        long = os.urandom(2_500).hex()
        await ledger.write(ANA, Change(messages=[NewMessage(message=a_message("m1", long), entries=(an_entry(1),))]))
        await ledger.erase(ANA, ALL_OF_ANA)
        run_sql(database, "vacuum (process_toast false) messages", "checkpoint")
        assert found(folder, long[-1_000:])["base"] > 0
        await ledger.scrub()
        assert found(folder, long[-1_000:]) == {}


async def test_a_role_that_may_not_empty_the_log_says_that_it_may_hold_it(database: str, folder: Path) -> None:
    async with PostgresLedger(database_of(database, "memory", user="app")) as ledger:
        await filled(ledger)
        await ledger.erase(ANA, ALL_OF_ANA)
        assert await ledger.scrub() == [scrubbing.IN_THE_LOG, scrubbing.ELSEWHERE]
        run_sql(database, "checkpoint")
        assert "base" not in found(folder)


async def test_tables_that_are_too_large_to_write_anew_are_named(database: str) -> None:
    async with PostgresLedger(database, rewrite_up_to=1_000) as ledger:
        await filled(ledger)
        await ledger.erase(ANA, ALL_OF_ANA)
        (first, *_) = await ledger.scrub()
        assert "more than the 1,000 that a forget writes anew" in first


async def test_tables_of_another_role_are_named(database: str) -> None:
    async with PostgresLedger(database) as ledger:
        await filled(ledger)
        await ledger.erase(ANA, ALL_OF_ANA)
    run_sql(database, "grant select, insert, update, delete on all tables in schema public to guest")
    async with PostgresLedger(database_of(database, "memory", user="guest")) as ledger:
        (first, *_) = await ledger.scrub()
        assert "may not VACUUM" in first and "messages" in first


async def test_others_who_keep_the_tables_are_waited_for_and_then_named(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubbing, "PATIENCE", 0.05)
    async with PostgresLedger(database) as ledger:
        await filled(ledger)
        await ledger.erase(ANA, ALL_OF_ANA)
        async with aclosing(ledger.read_archive(BEN)) as archive:
            while not any(isinstance(record, KeptMessage) for record in await anext(archive)):
                pass
            with pytest.raises(LedgerUnavailable, match="others are using the tables"):
                await ledger.scrub()
        assert scrubbing.ELSEWHERE in await ledger.scrub()
