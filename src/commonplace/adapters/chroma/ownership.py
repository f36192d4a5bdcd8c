"""One process at a time owns a Chroma folder, by an OS lock that goes with its process.

The lock file also says what the owner is in the middle of. Chroma rewrites its vector files in place: an owner killed
in there can leave files that crash whoever reads them next, and only a note from before the crash can tell.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        # Windows locks bytes against reading, too: one far behind the note will do.
        os.lseek(file, 1 << 30, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        # flock, not lockf: that one would let two owners live in one process, and be lost when either closes the file.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


Doing = Literal["opening", "changing"]


class Note(NamedTuple):
    """What an owner that was killed had been doing, to which collection, and since when (nanoseconds)."""

    doing: str
    collection: str
    since: int


class Ownership:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._process = 0
        self._refusal = ""

    @property
    def held(self) -> bool:
        # A forked child inherits the open file, but must not use what its parent uses.
        return self._file is not None and self._process == os.getpid()

    @property
    def refusal(self) -> str:
        """Why it could not be had the last time."""
        return self._refusal

    def take(self) -> bool:
        """Become the owner if nobody is; never waits. Returns `held`."""
        if self.held:
            return True
        self._close()
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            _lock(self._file)
        except BlockingIOError:
            return self._refuse("another process owns it")
        except OSError as error:
            return self._refuse(f"{self._path}: {error.strerror}")
        self._process = os.getpid()
        return True

    def release(self) -> None:
        self._close()

    def left_note(self) -> Note | None:
        """Return what the owner before this one was killed in the middle of, if it was."""
        assert self._file is not None
        os.lseek(self._file, 0, os.SEEK_SET)
        doing, _, collection = os.read(self._file, 200).decode("ascii", "replace").partition(" ")
        return Note(doing, collection, os.fstat(self._file).st_mtime_ns) if collection else None

    def clear_note(self) -> None:
        assert self._file is not None
        os.ftruncate(self._file, 0)

    @contextlib.contextmanager
    def noting(self, doing: Doing, collection: str) -> Iterator[None]:
        """Leave a note for whoever owns the folder next, unless this process lives to remove it."""
        assert self._file is not None
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, f"{doing} {collection}".encode("ascii"))
        try:
            yield
        finally:
            self.clear_note()

    def _refuse(self, why: str) -> bool:
        self._close()
        self._refusal = why
        return False

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
