import asyncio
from importlib import resources
from pathlib import Path

import pytest

from commonplace.adapters.pgvector import PgvectorIndex
from commonplace.adapters.postgres import PostgresLedger
from commonplace.adapters.postgres.database import Database
from commonplace.domain.errors import Incompatible, InvalidInput, LedgerTooNew, LedgerUnavailable
from tests.contracts.ledger.values import ANA, START
from tests.servers import database_of, free_port, run_sql

pytestmark = pytest.mark.anyio


async def test_a_database_keeps_its_name(postgres_database: str) -> None:
    async with PostgresLedger(postgres_database) as one, PostgresLedger(postgres_database) as other:
        assert one.name == other.name != ""


async def test_a_schema_of_a_newer_version_is_refused(postgres_database: str, tmp_path: Path) -> None:
    for file in resources.files("commonplace.adapters.postgres").joinpath("migrations").iterdir():
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "9999_later.sql").write_text("create table later (n bigint)")
    async with PostgresLedger(postgres_database, migrations=tmp_path):
        pass
    with pytest.raises(LedgerTooNew, match="schema 9999"):
        async with PostgresLedger(postgres_database):
            pass


async def test_a_database_of_another_program_is_refused(postgres_database: str) -> None:
    run_sql(postgres_database, "create table sessions (id text)")
    with pytest.raises(Incompatible, match="a table 'sessions' of another program"):
        async with PostgresLedger(postgres_database):
            pass


@pytest.mark.parametrize(
    ("template", "owner", "lacking"),
    [
        ("template_of_tests", "postgres", "permission denied for schema public"),
        ("template1", "app", 'extension "vector"'),
    ],
)
async def test_a_role_that_may_not_make_the_tables_is_told_what_it_lacks(
    postgres_url: str, template: str, owner: str, lacking: str
) -> None:
    run_sql(postgres_url, f"create database of_others template {template} owner {owner}")
    try:
        with pytest.raises(Incompatible, match=f"of_others: .*{lacking}.*; let the role own the database"):
            async with PostgresLedger(database_of(postgres_url, "of_others", user="app")):
                pass
    finally:
        run_sql(postgres_url, "drop database of_others with (force)")


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    url = f"postgresql://ana:secret@127.0.0.1:{free_port()}/memory"
    with pytest.raises(LedgerUnavailable, match="127.0.0.1") as refused:
        async with PostgresLedger(url):
            pass
    assert "secret" not in str(refused.value)


async def test_an_address_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="database_url"):
        async with PostgresLedger("postgresql://host:port:what/?nonsense=1"):
            pass


@pytest.mark.parametrize("host", ["[::1]x", "[::1", "[]"])
async def test_an_address_that_cannot_be_read_is_refused_without_its_password(host: str) -> None:
    with pytest.raises(InvalidInput, match="database_url: .* in URI") as refused:
        async with PostgresLedger(f"postgresql://ana:hush@{host}/memory"):
            pass
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:abc", "127.0.0.1:0", "127.0.0.1:99999", "a:5432,b:x", "ana:hu/sh@127.0.0.1"]
)
async def test_what_is_no_port_may_be_a_part_of_a_password_and_is_refused_without_it(host: str) -> None:
    with pytest.raises(InvalidInput, match="database_url: expected a port from 1 to 65535; .* as %2F") as refused:
        async with PostgresLedger(f"postgresql://{host}/memory"):
            pass
    assert "hu" not in str(refused.value)
    with pytest.raises(InvalidInput, match="pgvector_url: expected a port"):
        PgvectorIndex(f"postgresql://{host}/memory")


async def test_a_password_that_cannot_be_decoded_is_not_shown() -> None:
    with pytest.raises(InvalidInput, match=r"database_url: a % in it that encodes nothing; write it as %25") as refused:
        async with PostgresLedger("postgresql://ana:se%cret@host/memory"):
            pass
    assert "cret" not in str(refused.value)


async def test_the_schema_is_made_once_while_others_wait(postgres_database: str) -> None:
    async def opened() -> str:
        async with PostgresLedger(postgres_database) as ledger:
            return ledger.name

    names = await asyncio.gather(*(opened() for _ in range(5)))
    assert len(set(names)) == 1


@pytest.mark.parametrize("path", ["memory", "memory,public"])
async def test_a_schema_in_its_own_corner_of_a_database(postgres_database: str, path: str) -> None:
    """pgvector is in another schema, as `create extension` puts it; another program has a table there."""
    run_sql(postgres_database, "create table sessions (id text)", "create schema memory")
    async with PostgresLedger(f"{postgres_database}&options=-csearch_path%3D{path}") as ledger:
        assert (await ledger.counts("acme")).messages == 0


async def test_a_new_schema_is_not_taken_for_the_memory_in_one_that_is_searched_after_it(
    postgres_database: str,
) -> None:
    run_sql(postgres_database, "create schema second")
    async with (
        PostgresLedger(postgres_database) as first,
        PostgresLedger(f"{postgres_database}&options=-csearch_path%3Dsecond,public") as second,
    ):
        assert first.name != second.name


async def test_a_schema_that_is_not_there_is_refused(postgres_database: str) -> None:
    with pytest.raises(Incompatible, match="no schema of those that its search_path names"):
        async with PostgresLedger(f"{postgres_database}&options=-csearch_path%3Dnowhere"):
            pass


async def test_a_server_that_is_gone_without_a_word_is_noticed(postgres_database: str) -> None:
    """By the network, which nothing here can cut: so what is asked of it is looked at."""
    asked = Database(url=f"{postgres_database}&keepalives_idle=77", pool_size=1, statement_timeout=1, patience=1)
    async with await asked.connect() as connection:
        given = {one.keyword.decode(): one.val for one in connection.pgconn.info}
    assert given["keepalives_idle"] == b"77", "what the address says is kept"
    assert given["tcp_user_timeout"] == b"25000"


async def test_no_free_connection_is_told_with_how_long_it_was_waited_for(postgres_database: str) -> None:
    database = Database(url=postgres_database, pool_size=1, statement_timeout=1, patience=0.5)
    with pytest.raises(LedgerUnavailable, match=r"no connection within 0\.5 s"), database.in_our_words():
        async with database.pool() as pool, pool.connection(), pool.connection():
            pass


async def test_a_database_that_cannot_keep_every_text_is_refused(postgres_url: str) -> None:
    run_sql(postgres_url, "create database latin encoding 'LATIN1' locale 'C' template template0 owner app")
    with pytest.raises(Incompatible, match="keeps texts as LATIN1; expected a database with encoding 'UTF8'"):
        async with PostgresLedger(database_of(postgres_url, "latin", user="app")):
            pass


async def test_what_a_role_or_an_address_sets_changes_no_text(postgres_database: str) -> None:
    async with PostgresLedger(f"{postgres_database}&client_encoding=LATIN1") as ledger:
        await ledger.append_block(ANA, "profile", "\u6211\u559c\u6b22", now=START)
        assert [block.text for block in await ledger.blocks(ANA)] == ["\u6211\u559c\u6b22"]


async def test_what_is_up_to_date_can_be_opened_where_nothing_may_be_written(postgres_database: str) -> None:
    """As on a replica."""
    async with PostgresLedger(postgres_database) as ledger:
        name = ledger.name
    async with PostgresLedger(f"{postgres_database}&options=-cdefault_transaction_read_only%3Don") as ledger:
        assert ledger.name == name
        assert (await ledger.counts("acme")).messages == 0
        with pytest.raises(LedgerUnavailable, match="read-only"):
            await ledger.append_block(ANA, "profile", "x", now=START)
