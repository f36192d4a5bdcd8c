"""A database is created, upgraded or refused with a name for the reason; it is private, and several may open it."""

import asyncio
import contextlib
import multiprocessing
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.adapters.sqlite.cipher import Cipher
from commonplace.adapters.sqlite.database import Database, Synchronous
from commonplace.domain.errors import Closed, Incompatible, LedgerCorrupt, LedgerTooNew, LedgerUnavailable
from commonplace.domain.values import MessageId
from commonplace.ports.ledger import Change, Ledger
from tests.contracts.ledger.values import ANA, BEN, added, learned, new_message

SHIPPED = Path(sys.modules[Database.__module__].__file__ or "").parent / "migrations"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def newer_migrations(folder: Path, sql: str) -> Path:
    """Return the shipped migrations with one more."""
    shutil.copytree(SHIPPED, folder)
    last = max(int(file.name[:4]) for file in folder.glob("*.sql"))
    (folder / f"{last + 1:04}_next.sql").write_text(sql)
    return folder


async def test_it_is_a_ledger(tmp_path: Path) -> None:
    ledger: Ledger = SqliteLedger(tmp_path / "ledger.db")
    assert isinstance(ledger, SqliteLedger)


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        name = ledger.name
        await ledger.write(ANA, learned())
        feed = await ledger.feed(ANA)
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        assert ledger.name == name
        assert await ledger.feed(ANA) == feed


async def test_the_folder_and_the_files_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "memory"
    async with SqliteLedger(folder / "ledger.db") as ledger:
        await ledger.write(ANA, added("m1"))
        assert mode(folder) == 0o700
        files = {file.name: mode(file) for file in folder.iterdir()}
        assert files == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}
        assert (await ledger.counts("acme")).bytes_on_disk >= sum(
            (folder / name).stat().st_size for name in ("ledger.db", "ledger.db-wal")
        )


@pytest.mark.parametrize(("synchronous", "level"), [("FULL", 2), ("NORMAL", 1)])
def test_connections_have_the_settings_they_need(tmp_path: Path, synchronous: Synchronous, level: int) -> None:
    database = Database(path=tmp_path / "ledger.db", synchronous=synchronous, busy_timeout=3)
    writer, reader = database.writer(), database.reader()
    wanted = {
        "journal_mode": "wal",
        "synchronous": level,
        "foreign_keys": 1,
        "secure_delete": 1,
        "page_size": 4_096,
        "busy_timeout": 3000,
        "temp_store": 2,
    }
    for connection in (writer, reader):
        assert {name: connection.execute(f"pragma {name}").fetchone()[0] for name in wanted} == wanted
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("delete from messages")
    for connection in (reader, writer):
        connection.close()


def test_pragmas_that_are_named_hold_on_every_connection(tmp_path: Path) -> None:
    named = {"cache_size": "-777", "mmap_size": "1048576", "wal_autocheckpoint": "99"}
    database = Database(path=tmp_path / "ledger.db", synchronous="FULL", busy_timeout=3, pragmas=named)
    for connection in (database.writer(), database.reader()):
        found = {name: str(connection.execute(f"pragma {name}").fetchone()[0]) for name in named}
        connection.close()
        assert found == named


async def test_a_deleted_text_leaves_no_bytes_in_the_file(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        await ledger.append_block(ANA, "profile", "a very particular secret", now=new_message().message.at)
        await ledger.delete_block(ANA, "profile")
    assert b"a very particular secret" not in (tmp_path / "ledger.db").read_bytes()


async def test_an_older_database_is_upgraded_and_keeps_what_it_holds(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        await ledger.write(ANA, learned())
        feed = await ledger.feed(ANA)
    newer = newer_migrations(
        tmp_path / "newer", "create table later (x);\n-- a comment\ninsert into later values (';');\n"
    )
    for _ in range(2):
        async with SqliteLedger(tmp_path / "ledger.db", migrations=newer) as ledger:
            assert await ledger.feed(ANA) == feed
    connection = sqlite3.connect(tmp_path / "ledger.db")
    assert connection.execute("select x from later").fetchall() == [(";",)]
    numbers = [number for (number,) in connection.execute("select number from migrations order by number")]
    connection.close()
    assert numbers == sorted(int(file.name[:4]) for file in newer.glob("*.sql"))


async def test_the_first_schema_is_upgraded_to_the_last(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    shutil.copy(SHIPPED / "0001_ledger.sql", first)
    old = Database(path=tmp_path / "ledger.db", synchronous="FULL", busy_timeout=3, migrations=first).writer()
    old.execute("insert into partitions (tenant, user, version) values ('acme', 'ana', 7)")
    old.close()
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        assert (await ledger.versions(ANA)).version == 7
        await ledger.write(ANA, learned())
        assert [row.n for row in (await ledger.feed(ANA, since=7)).messages] == [1]


async def test_a_newer_database_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    newer = newer_migrations(tmp_path / "newer", "create table later (x);")
    async with SqliteLedger(tmp_path / "ledger.db", migrations=newer):
        pass
    with pytest.raises(LedgerTooNew, match=r"ledger\.db has schema .* upgrade commonplace"):
        async with SqliteLedger(tmp_path / "ledger.db"):
            pass


async def test_a_migration_that_came_later_with_a_lower_number_is_applied_too(tmp_path: Path) -> None:
    folder, later = tmp_path / "migrations", 9_990
    shutil.copytree(SHIPPED, folder)
    (folder / f"{later + 1}_second.sql").write_text("create table second (x);")
    async with SqliteLedger(tmp_path / "ledger.db", migrations=folder):
        pass
    (folder / f"{later}_first.sql").write_text("create table first (x);")
    async with SqliteLedger(tmp_path / "ledger.db", migrations=folder):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as database:
        assert database.execute("select count(*) from first, second").fetchone() == (0,)


async def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        await ledger.write(ANA, learned())
        feed = await ledger.feed(ANA)
    broken = newer_migrations(tmp_path / "broken", "create table later (x);\ndrop table no_such_table;")
    with pytest.raises(sqlite3.OperationalError, match="no_such_table"):
        async with SqliteLedger(tmp_path / "ledger.db", migrations=broken):
            pass
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        assert await ledger.feed(ANA) == feed
    connection = sqlite3.connect(tmp_path / "ledger.db")
    assert connection.execute("select count(*) from sqlite_master where name = 'later'").fetchone() == (0,)
    connection.close()


async def test_a_file_that_is_no_database_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"this is no database, and long enough to be looked at" * 99)
    with pytest.raises(LedgerCorrupt, match=r"ledger\.db"):
        async with SqliteLedger(tmp_path / "ledger.db"):
            pass


async def test_a_damaged_page_is_reported_and_never_looks_like_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    async with SqliteLedger(path) as ledger:
        await ledger.write(ANA, Change(messages=[new_message(f"m{n}", "text " * 1000) for n in range(50)]))
    whole = path.read_bytes()
    path.write_bytes(whole[: 4_096 * 2] + b"\xff" * (len(whole) - 4_096 * 2))
    with pytest.raises(LedgerCorrupt, match=r"ledger\.db"):
        async with SqliteLedger(path) as ledger:
            await ledger.messages_by_id(ANA, [MessageId(f"m{n}") for n in range(50)])


async def test_damage_is_found_by_check(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    async with SqliteLedger(path) as ledger:
        await ledger.write(ANA, learned())
    connection = sqlite3.connect(path)
    connection.execute("delete from passages")
    connection.execute("delete from messages")
    connection.execute("update partitions set rows = 7")
    connection.commit()
    connection.close()
    async with SqliteLedger(path) as ledger:
        findings = await ledger.check()
    assert {finding.severity for finding in findings} == {"error"}
    found = " ".join(finding.message for finding in findings)
    for damage in ("fact_sources", "fact_history", "vectors without a row", "wrong count of rows"):
        assert damage in found


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("create table theirs (x)")
    connection.close()
    with pytest.raises(Incompatible, match="another program"):
        async with SqliteLedger(tmp_path / "ledger.db"):
            pass


async def test_a_path_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnavailable, match="file"):
        async with SqliteLedger(tmp_path / "file" / "ledger.db"):
            pass


async def test_a_lock_is_waited_for_and_the_event_loop_goes_on(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", busy_timeout=30) as ledger:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("begin immediate")
        waiting = asyncio.create_task(ledger.write(ANA, added("m1")))
        for _ in range(20):
            assert await ledger.messages_by_id(ANA, [MessageId("m1")]) == {}
        assert not waiting.done()
        other.execute("commit")
        other.close()
        assert await waiting == frozenset()


async def test_a_lock_past_the_time_out_is_unavailable_and_then_it_works_again(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db", busy_timeout=0.05) as ledger:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(LedgerUnavailable, match=r"ledger\.db: database is locked") as caught:
            await ledger.write(ANA, added("m1"))
        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
        other.execute("rollback")
        other.close()
        await ledger.write(ANA, added("m1"))


async def test_a_call_outside_of_its_life_is_refused(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.db")
    with pytest.raises(Closed):
        await ledger.versions(ANA)
    async with ledger:
        await ledger.write(ANA, added("m1"))
    with pytest.raises(Closed):
        await ledger.write(ANA, added("m2"))
    with pytest.raises(Closed):
        await ledger.versions(ANA)


async def test_closing_waits_for_what_is_under_way(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        writes = [asyncio.create_task(ledger.write(ANA, added(f"m{n}"))) for n in range(100)]
        await asyncio.sleep(0)
    await asyncio.gather(*writes)
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        assert (await ledger.counts_of(ANA)).messages == 100


async def test_a_call_that_is_cancelled_disturbs_no_other(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger:
        tasks = [asyncio.create_task(ledger.write(ANA, added(f"m{n}"))) for n in range(50)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(result == frozenset() for result in results[1::2])
        kept = await ledger.messages_by_id(ANA, [MessageId(f"m{n}") for n in range(50)])
        assert set(kept) >= {f"m{n}" for n in range(1, 50, 2)}
        assert await ledger.check() == []


async def test_two_ledgers_on_one_file_see_each_other(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as one, SqliteLedger(tmp_path / "ledger.db") as two:
        assert one.name == two.name
        for n in range(20):
            await one.write(ANA, added(f"m{n}"))
            assert (await two.versions(ANA)).version == n + 1
            await two.write(BEN, added(f"m{n}"))
            assert [row.id for row in (await one.feed(BEN, since=n)).messages] == [f"m{n}"]


@pytest.mark.parametrize("cipher", [None, Cipher("a secret")])
async def test_a_second_ledger_in_this_process_does_not_give_up_the_locks_of_the_first(
    tmp_path: Path, cipher: Cipher | None
) -> None:
    path = tmp_path / "ledger.db"
    async with SqliteLedger(path, cipher=cipher) as first:
        await first.write(ANA, added("m1"))
        async with SqliteLedger(path, cipher=cipher) as second:
            assert (await second.counts_of(ANA)).messages == 1
        await asyncio.to_thread(come_and_go, path, cipher)
        assert path.with_name("ledger.db-wal").exists(), "another process took it away, and what is written is lost"
        await first.write(ANA, added("m2"))
    async with SqliteLedger(path, cipher=cipher) as again:
        assert (await again.counts_of(ANA)).messages == 2


def come_and_go(path: Path, cipher: Cipher | None) -> None:
    """Open the database in another process, and leave it: the last one to leave puts the log into the file."""
    process = multiprocessing.get_context("spawn").Process(target=_leave, args=(path, cipher))
    process.start()
    process.join()
    assert process.exitcode == 0


def _leave(path: Path, cipher: Cipher | None) -> None:
    asyncio.run(_opened(path, cipher))


async def _opened(path: Path, cipher: Cipher | None) -> None:
    async with SqliteLedger(path, cipher=cipher):
        pass
