"""A disk without room, as the ledger of a child process sees it, until the block is left."""

import os
import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers import run_sql

SPARE = 256 << 10

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
def filled(disk: Path) -> Iterator[None]:
    """Leave hardly any room on a disk."""
    ballast, found = disk / "ballast", os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - SPARE)
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def no_room(place: Mapping[str, Any], *, size: int, table: str, rows: int) -> Iterator[None]:
    """Have no room left in the middle of something: beyond `size` in a file of SQLite, and for more than `rows` on a
    server, which is made to say what one says whose disk is full."""
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
