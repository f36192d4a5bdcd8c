"""A transaction: committed when the work returns, undone when it raises."""

from collections.abc import Callable
from typing import Literal, TypeVar

from commonplace.adapters.sqlite.columns import Connection

T = TypeVar("T")
Begin = Literal["begin", "begin immediate"]


def in_transaction(connection: Connection, begin: Begin, work: Callable[[Connection], T]) -> T:
    connection.execute(begin)
    try:
        result = work(connection)
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:  # SQLite may have given it up by itself (disk full)
            connection.execute("rollback")
        raise
    return result
