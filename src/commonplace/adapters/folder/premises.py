"""Premises in a folder of this machine."""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonplace.domain.results import Finding

ROOM = 64 << 20
"""Bytes that should be free besides those for a second ledger: forgetting writes the whole file anew."""

SETTLING = 0.2
"""Seconds in which a file that Chroma is just making gets the mode that it is to have."""


@dataclass(frozen=True, slots=True)
class FolderPremises:
    home: Path
    ledger: Path
    known: frozenset[str] = frozenset()
    """Names in the folder that have an owner, beside the ledger and its own files."""

    async def inspect(self, *, repair: bool) -> Sequence[Finding]:
        return await asyncio.to_thread(lambda: [*self._permissions(repair), *self._orphans(), *self._space()])

    def _permissions(self, repair: bool) -> Iterator[Finding]:
        if os.name != "posix":
            return
        open_ = _open_to_others([self.home, *(path for path in self.home.rglob("*") if not path.is_symlink())])
        if open_:
            time.sleep(SETTLING)
            open_ = _open_to_others(open_)
        if not open_:
            return
        if repair:
            for path in open_:
                path.chmod(path.stat().st_mode & 0o700)
        yield Finding(
            check="permissions",
            severity="warning",
            message=f"{len(open_)} files or folders can be read by others, e.g. {open_[0]}",
            means="other users of this machine can read what is remembered",
            repaired=repair,
        )

    def _orphans(self) -> Iterator[Finding]:
        mine = {self.ledger.name + suffix for suffix in ("", "-wal", "-shm", ".snapshots", ".attachments")} | self.known
        strange = sorted(path.name for path in self.home.iterdir() if path.name not in mine)
        if strange:
            yield Finding(
                check="files",
                severity="note",
                message=f"nobody knows of {', '.join(strange[:5])}",
                means="they are not part of the memory: forget does not reach them; look, and remove them yourself",
            )

    def _space(self) -> Iterator[Finding]:
        free, needed = shutil.disk_usage(self.home).free, ROOM
        if self.ledger.exists():
            needed += self.ledger.stat().st_size
        if free < needed:
            yield Finding(
                check="space",
                severity="warning",
                message=f"{free:,} bytes are free, and {needed:,} may be needed",
                means="forget writes the whole ledger anew and would fail; adding fails when the disk is full",
            )


def _open_to_others(paths: Sequence[Path]) -> list[Path]:
    return [path for path in paths if _mode(path) & 0o077]


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0  # removed meanwhile
