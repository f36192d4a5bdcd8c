"""Short work where it is asked for: for a few rows by their keys, the way to a thread takes ten times as long.

In WAL mode a reader waits for nobody, but for a moment while another process opens or closes the database, and a writer
for other writers only. What would have to wait goes to a thread after all.
"""

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from commonplace.adapters.sqlite.columns import Connection
from commonplace.adapters.sqlite.transactions import Begin, in_transaction

T = TypeVar("T")


class AtHand:
    """One connection, for the thread of the event loop. The first use connects it."""

    def __init__(self, connect: Callable[[], Connection], *, begin: Begin) -> None:
        self._connect, self._begin = connect, begin
        self._connection: Connection | None = None

    def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction. Raises sqlite3.OperationalError, SQLITE_BUSY, where it would have to wait."""
        return in_transaction(self._opened(), self._begin, work)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self._connect()
            self._connection.execute("pragma busy_timeout = 0")
        return self._connection


def would_wait(error: Exception) -> bool:
    code: int = getattr(error, "sqlite_errorcode", -1)
    return code >= 0 and code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
