"""A Chroma folder that this process owns, and that it can lose: deleted under it, or torn by an owner that was killed.

Everything in it can be fed again from the ledger. So what cannot be trusted is dropped, with a line in the log, and
comes back under another identity.
"""

import errno
import logging
import os
import re
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TypeVar

from chromadb.api.models.Collection import Collection
from chromadb.errors import ChromaError, InternalError

from commonplace.adapters.chroma.ownership import Note, Ownership
from commonplace.adapters.chroma.store import EMBEDDED, Store
from commonplace.domain.errors import IndexUnavailable

T = TypeVar("T")

LOG = logging.getLogger(__name__)

OURS = "commonplace-index.txt"
"""Marks a folder that may be emptied: without it, it could be somebody's only copy."""
EXPLANATION = "Made by Commonplace from its ledger, and made again from it when it is gone.\n"
BROKEN_DATABASE = re.compile(r"\(code: (1|11|26)\)")
"""SQLite's codes for a missing table, a malformed file and a file that is no database."""
NO_DAMAGE = re.compile(r"\(code: (5|8|10|13|14)\)|os error")
"""Locked, read-only, failing or full disks: the files may be sound. Other internal errors are about the vectors."""
ZEROS = bytes(1 << 20)
HNSW_HEADER = struct.Struct("<I4Q")
"""Version, an offset, room for how many vectors, how many there are, and the bytes of each."""


class FolderStore(Store):
    def __init__(self, folder: Path, ownership: Ownership) -> None:
        self._folder, self._ownership = folder, ownership
        self._lost = False
        self._answered: set[str] = set()
        self._private: dict[Path, int] = {}
        _prepare(folder)
        try:
            self._start()
        except ChromaError as error:
            self._empty(f"it does not open: {error}")
            self._start()
        self._recover(ownership.left_note())
        self._keep_private()

    @property
    def lost(self) -> bool:
        return self._lost or not (self._folder / OURS).exists()

    def drop(self, name: str) -> None:
        super().drop(name)
        self._answered.discard(name)
        self._sweep()

    def erase(self, *names: str) -> int:
        """Chroma's own log keeps vectors, also in the unused parts of its file: only a new file is free of them."""
        for name in names:
            self.drop(name)
        self._lost = True  # until it is open again
        self.close()
        _forget_the_log(self._folder / "chroma.sqlite3")
        self._start()
        self._lost = False
        self._keep_private()
        return sum(len(self.numbers(name)) for name in names)

    def close(self) -> None:
        super().close()
        for folder in (one for one in self._folder.iterdir() if one.is_dir()) if self._folder.is_dir() else ():
            _blank_unused(folder)

    def _start(self) -> None:
        super().__init__({**EMBEDDED, "is_persistent": True, "persist_directory": str(self._folder)})

    def _call(self, collection: Collection, work: Callable[[Collection], T], *, changing: bool = False) -> T:
        try:
            with self._noting(collection.name, changing=changing):
                answer = super()._call(collection, work, changing=changing)
        except InternalError as error:
            self._heal(collection.name, str(error))
            raise
        self._answered.add(collection.name)
        if changing:
            self._keep_private()
        return answer

    def _noting(self, name: str, *, changing: bool) -> AbstractContextManager[None]:
        """The first call reads the files, and plays back what a killed owner had only logged: it may crash, too."""
        if name not in self._answered:
            return self._ownership.noting("opening", name)
        return self._ownership.noting("changing", name) if changing else nullcontext()

    def _recover(self, note: Note | None) -> None:
        """Drop the collection that the owner before was killed over, if its files cannot be trusted.

        Chroma's own log is safe, and a kill hits the few calls that rewrite vector files (one in four of 256 rows)
        or none: then no file is younger than the note.
        """
        if note is None:
            return
        if note.doing == "opening" or any(file.stat().st_mtime_ns >= note.since for file in self._vector_files()):
            LOG.warning("a collection of the Chroma folder is built anew: its last owner was killed %s it", note.doing)
            self.drop(note.collection)
        self._ownership.clear_note()

    def _heal(self, name: str, error: str) -> None:
        if BROKEN_DATABASE.search(error):
            self._lost = True
            self._empty(f"its database is damaged: {error}")
        elif not NO_DAMAGE.search(error):
            LOG.warning("a collection of the Chroma folder is built anew: its files are damaged")
            self.drop(name)

    def _empty(self, why: str) -> None:
        LOG.warning("the Chroma folder is built anew from the ledger: %s", why)
        shutil.rmtree(self._folder)
        _prepare(self._folder)

    def _vector_files(self) -> Iterator[Path]:
        return (file for file in self._folder.glob("*/*") if file.is_file())

    def _sweep(self) -> None:
        """Remove the vector files of dropped collections, which Chroma leaves behind."""
        with closing(sqlite3.connect(f"file:{self._folder / 'chroma.sqlite3'}?mode=ro", uri=True)) as database:
            live = {str(id_) for (id_,) in database.execute("select id from segments")}
        for one in self._folder.iterdir():
            if one.is_dir() and one.name not in live:
                for file in one.iterdir():
                    _overwrite(file)
                shutil.rmtree(one)

    def _keep_private(self) -> None:
        """Chroma makes files as the umask says. A folder's time changes with the names in it, so most are skipped."""
        for folder in (self._folder, *(one for one in self._folder.iterdir() if one.is_dir())):
            changed = folder.stat().st_mtime_ns
            if self._private.get(folder) != changed:
                folder.chmod(0o700)
                for file in folder.iterdir():
                    if file.is_file():
                        file.chmod(0o600)
                self._private[folder] = changed


def _prepare(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    if (folder / OURS).exists():
        return
    if any(folder.iterdir()):
        raise IndexUnavailable(f"{folder} holds files that are not Commonplace's: give the index a folder of its own")
    (folder / OURS).write_text(EXPLANATION)


def _overwrite(file: Path) -> None:
    """Write zeros over what a file holds. It skips holes: a torn file may claim to be 143 GB long, and hold nothing."""
    with file.open("r+b") as stream:
        for start, stop in _extents(stream.fileno()):
            stream.seek(start)
            for at in range(start, stop, len(ZEROS)):
                stream.write(ZEROS[: stop - at])
        stream.flush()
        os.fsync(stream.fileno())


def _blank_unused(folder: Path) -> None:
    """Write zeros over the part of a vector file that holds no vectors yet.

    Chroma writes a new file with room for a hundred, and fills that room with whatever this process had in its memory
    before: texts, too. Call it while the file is closed.
    """
    header, data = folder / "header.bin", folder / "data_level0.bin"
    if not header.exists() or not data.exists() or header.stat().st_size < HNSW_HEADER.size:
        return
    _, _, room, count, size = HNSW_HEADER.unpack_from(header.read_bytes())
    used, held = count * size, data.stat().st_size
    if used < held <= room * size:
        with data.open("r+b") as stream:
            stream.seek(used)
            for at in range(used, held, len(ZEROS)):
                stream.write(ZEROS[: held - at])
            stream.flush()
            os.fsync(stream.fileno())


def _extents(file: int) -> Iterator[tuple[int, int]]:
    """Yield where a file has data, from its beginning to its end."""
    stop, size = 0, os.fstat(file).st_size
    while stop < size:
        try:
            start = os.lseek(file, stop, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole from here on
                return
            raise
        stop = os.lseek(file, start, os.SEEK_HOLE)
        yield start, stop


def _forget_the_log(database: Path) -> None:
    """Remove what the log holds of collections that are gone, and write the file anew."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("pragma secure_delete = on")
        connection.execute("pragma temp_store = memory")
        connection.execute(
            "delete from embeddings_queue where not exists"
            " (select 1 from collections c where embeddings_queue.topic like '%/' || c.id)"
        )
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)")
