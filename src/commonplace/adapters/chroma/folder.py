"""A Chroma folder with one owner.

Two processes on one folder silently give wrong answers, so an OS lock says who may use it. A generation, made with
the folder, tells the ledger's record of what was delivered to this folder from the record of one that is gone.
"""

import fcntl
import logging
import os
import shutil
import uuid
from pathlib import Path

LOG = logging.getLogger(__name__)


class Folder:
    """`path` holds `lock`, and `data` with Chroma's files, `generation`, and `in-use` while somebody is at it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: int | None = None

    @property
    def data(self) -> Path:
        return self._path / "data"

    @property
    def owned(self) -> bool:
        return self._lock is not None

    def own(self) -> bool:
        """Try to become the owner. The lock goes with the process, so a dead owner leaves it free."""
        if self._lock is not None:
            return True
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        self._make()
        return True

    @property
    def generation(self) -> str:
        """Return a name for the folder's present content; another one after it was emptied."""
        try:
            return (self.data / "generation").read_text("ascii")
        except OSError:
            return "none"

    @property
    def suspect(self) -> bool:
        """Whether its last owner did not get to close it: then its files may be damaged."""
        return (self.data / "in-use").exists()

    def begin(self) -> None:
        (self.data / "in-use").touch(mode=0o600)

    def empty(self, reason: str) -> None:
        """Start afresh: the ledger has everything, and the new generation makes sure that it is fed again."""
        LOG.warning("the Chroma folder is built anew from the ledger: %s", reason)
        shutil.rmtree(self.data)
        self._make()

    def close(self) -> None:
        if self._lock is not None:
            (self.data / "in-use").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def _make(self) -> None:
        self.data.mkdir(mode=0o700, exist_ok=True)
        generation = self.data / "generation"
        if not generation.exists():
            if any(self.data.iterdir()):  # somebody else's files, or ours without their mark: not to be trusted
                shutil.rmtree(self.data)
                self.data.mkdir(mode=0o700)
            generation.write_text(uuid.uuid4().hex[:12], "ascii")
            generation.chmod(0o600)
