"""AttachmentStore in a folder, private to the user. What is removed is overwritten first.

A file system that copies on write, or a disk that spreads its writes, may still hold the old blocks: only an encrypted
disk, or an encrypted memory, keeps those from whoever has the disk.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TypeVar
from uuid import uuid4

from commonplace.domain.errors import NotFound, StoreUnavailable
from commonplace.domain.values import AttachmentId
from commonplace.ports.attachments import Kept

T = TypeVar("T")

BEING_WRITTEN = ".partial"
CHUNK = 1 << 20
ABANDONED = 3_600
"""Seconds without a write after which nobody writes a file any more."""


class FolderAttachments:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        return str(self._folder)

    async def begin(self, namespace: str) -> "FolderIncoming":
        return await _run(self._folder, lambda: _begun(self._folder, namespace))

    async def read(self, namespace: str, id_: AttachmentId) -> AsyncGenerator[bytes, None]:
        try:
            file: IO[bytes] = await _run(self._folder, (self._folder / namespace / id_).open, "rb")
        except FileNotFoundError:
            raise NotFound("attachment", id_) from None
        try:
            while chunk := await _run(self._folder, file.read, CHUNK):
                yield chunk
        finally:
            file.close()

    async def files(self, namespace: str) -> Mapping[AttachmentId, Kept]:
        return await _run(self._folder, lambda: dict(_files(self._folder / namespace)))

    async def namespaces(self, under: str) -> Sequence[str]:
        return await _run(self._folder, lambda: [f"{under}/{one.name}" for one in _inside(self._folder / under)])

    async def delete(self, namespace: str, ids: Sequence[AttachmentId]) -> None:
        folder = self._folder / namespace
        await _run(
            self._folder, lambda: _erase([*(folder / one for one in ids), *_left_behind(folder)], within=self._folder)
        )

    async def clear(self, namespace: str) -> None:
        folder = self._folder / namespace
        await _run(self._folder, lambda: _erase(_inside(folder), within=self._folder))


class FolderIncoming:
    def __init__(self, namespace: Path, *, within: Path) -> None:
        self._folder = within
        self._partial: Path | None = namespace / f"{uuid4().hex}{BEING_WRITTEN}"
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file: IO[bytes] = os.fdopen(descriptor, "wb")

    async def write(self, data: bytes) -> None:
        await _run(self._folder, self._file.write, data)

    async def keep(self, id_: AttachmentId) -> None:
        await _run(self._folder, self._keep, id_)

    async def abandon(self) -> None:
        await _run(self._folder, self._abandon)

    def _keep(self, id_: AttachmentId) -> None:
        assert self._partial is not None
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._partial.rename(self._partial.with_name(id_))
        _sync(self._partial.parent)
        self._partial = None

    def _abandon(self) -> None:
        with suppress(OSError):  # on a full disk there is no room for what waits in the buffer, and nobody wants it
            self._file.close()
        if self._partial is not None:
            _erase([self._partial], within=self._partial.parent)
            self._partial = None


async def _run(folder: Path, work: Callable[..., T], *arguments: object) -> T:
    try:
        return await asyncio.to_thread(work, *arguments)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreUnavailable(f"attachments in {folder}: {error.strerror or error}") from error


def _begun(folder: Path, namespace: str) -> FolderIncoming:
    folder.parent.mkdir(parents=True, exist_ok=True)
    target = folder / namespace
    for attempt in range(5):
        # One by one: `parents=True` would give those in between the mode that the umask says.
        for one in reversed([target, *(parent for parent in target.parents if parent.is_relative_to(folder))]):
            one.mkdir(mode=0o700, exist_ok=True)
        try:
            _erase(_left_behind(target), within=target)
            return FolderIncoming(target, within=folder)
        except FileNotFoundError:  # an empty folder was tidied away at this moment
            if attempt == 4:
                raise
    raise AssertionError


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files(folder: Path) -> Iterable[tuple[AttachmentId, Kept]]:
    for file in _inside(folder):
        if file.suffix == BEING_WRITTEN:
            continue
        with suppress(FileNotFoundError):
            stat = file.stat()
            yield AttachmentId(file.name), Kept(stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC))


def _left_behind(folder: Path) -> list[Path]:
    """Return what was being written when a process was killed."""
    before = time.time() - ABANDONED
    return [file for file in _inside(folder) if file.suffix == BEING_WRITTEN and file.stat().st_mtime < before]


def _erase(files: Sequence[Path], *, within: Path) -> None:
    for file in files:
        with suppress(FileNotFoundError):
            _overwrite(file)
            file.unlink()
    for folder in {file.parent for file in files}:
        if folder.is_dir():
            _sync(folder)
        _tidy(folder, within)


def _overwrite(file: Path) -> None:
    with file.open("r+b") as stream:
        left = os.fstat(stream.fileno()).st_size
        while left > 0:
            left -= stream.write(bytes(min(left, CHUNK)))
        stream.flush()
        os.fsync(stream.fileno())


def _tidy(folder: Path, within: Path) -> None:
    """Remove a folder that is empty now, and those around it."""
    while folder != within and folder.is_relative_to(within) and folder.is_dir() and not _inside(folder):
        try:
            folder.rmdir()
        except OSError:
            return  # somebody has put something there just now
        folder = folder.parent


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
