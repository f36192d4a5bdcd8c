"""SnapshotStore in a folder. Files are private to the user, and appear under their names only when they are whole."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from commonplace.domain.errors import NotFound, StoreUnavailable

T = TypeVar("T")

BEING_WRITTEN = ".partial"


class FolderStore:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        return str(self._folder)

    async def put(self, name: str, data: bytes) -> None:
        await self._run(lambda: _write(self._folder, name, data))

    async def get(self, name: str) -> bytes:
        try:
            return await self._run((self._folder / name).read_bytes)
        except FileNotFoundError:
            raise NotFound("file", name) from None

    async def names(self, prefix: str) -> Sequence[str]:
        return await self._run(lambda: _names(self._folder, prefix))

    async def delete(self, names: Sequence[str]) -> None:
        await self._run(lambda: _delete(self._folder, names))

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreUnavailable(f"{self._folder}: {error.strerror or error}") from error


def _write(folder: Path, name: str, data: bytes) -> None:
    file = folder / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    # One by one: `parents=True` would give those in between the mode that the umask says.
    for one in [*reversed([parent for parent in file.parents if parent.is_relative_to(folder)])]:
        one.mkdir(mode=0o700, exist_ok=True)
    partial = file.with_name(f"{file.name}.{uuid4().hex}{BEING_WRITTEN}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        partial.rename(file)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _sync(file.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _names(folder: Path, prefix: str) -> Sequence[str]:
    files = (file for file in (folder / prefix).rglob("*") if file.is_file() and file.suffix != BEING_WRITTEN)
    return sorted(file.relative_to(folder).as_posix() for file in files)


def _delete(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        file = folder / name
        file.unlink(missing_ok=True)
        if file.parent != folder and file.parent.is_dir() and not any(file.parent.iterdir()):
            file.parent.rmdir()
