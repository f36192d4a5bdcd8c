"""Short reads on the thread of the event loop: they see every commit, and never make it wait."""

import sqlite3
from pathlib import Path

import pytest

from commonplace.adapters.sqlite import SqliteLedger
from commonplace.adapters.sqlite.at_hand import AtHand, would_wait
from commonplace.domain.scope import Scope
from commonplace.ports.ledger import Change

ANA = Scope("acme", "ana")


def plain(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=30)


def test_a_read_that_would_have_to_wait_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    holder = plain(path)
    holder.execute("create table t (n integer)")
    holder.execute("begin exclusive")
    at_hand = AtHand(lambda: plain(path), begin="begin")
    with pytest.raises(sqlite3.OperationalError) as refused:
        at_hand.run(lambda connection: connection.execute("select n from t").fetchall())
    assert would_wait(refused.value)
    holder.execute("commit")
    assert at_hand.run(lambda connection: connection.execute("select n from t").fetchall()) == []
    at_hand.close()
    holder.close()


def test_a_read_that_fails_leaves_no_transaction_open(tmp_path: Path) -> None:
    at_hand = AtHand(lambda: plain(tmp_path / "plain.db"), begin="begin")
    with pytest.raises(sqlite3.OperationalError) as failed:
        at_hand.run(lambda connection: connection.execute("select * from nowhere").fetchall())
    assert not would_wait(failed.value)
    assert at_hand.run(lambda connection: connection.execute("select 1").fetchone()) == (1,)
    at_hand.close()


async def test_a_short_read_sees_every_commit_of_another_connection(tmp_path: Path) -> None:
    async with SqliteLedger(tmp_path / "ledger.db") as ledger, SqliteLedger(tmp_path / "ledger.db") as other:
        for round_ in range(3):
            await other.write(ANA, Change())
            assert (await ledger.versions(ANA)).version == (await other.versions(ANA)).version, round_
