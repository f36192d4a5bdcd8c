"""A disk without room, as the ledger of a child process sees it, until the block is left."""

import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.servers import run_sql

_FULL = """
    create function no_room() returns trigger language plpgsql as $$
    begin
        if (select count(*) from {table}) >= {rows} then
            raise exception 'could not extend file "base/5/16384": No space left on device' using errcode = 'disk_full';
        end if;
        return new;
    end $$;
    create trigger no_room before insert on {table} for each row execute function no_room();
"""


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let no file grow beyond that size: SQLite and the system see it as they see a disk without room."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


@contextmanager
def no_room(place: Mapping[str, Any], *, size: int, table: str, rows: int) -> Iterator[None]:
    """Let a file of SQLite grow to `size` only, and a server say what one says whose disk is full, from `rows` on."""
    url = place.get("database_url")
    if url is None:
        with files_up_to(size):
            yield
        return
    run_sql(url, _FULL.format(table=table, rows=rows))
    try:
        yield
    finally:
        run_sql(url, f"drop trigger no_room on {table}", "drop function no_room")
