"""Export: everything held on one user, as it was at one moment, in JSON lines.

It is a value: it does not change when the memory does. A large one lies in a temporary file without a name, which is
gone with it; one that was written to a path is read from there.
"""

import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import IO

from commonplace.care.lines import Ended, line_of
from commonplace.domain.archive import NAMES, Archived, OfTenant, OfUser, Opened
from commonplace.domain.errors import InvalidInput

IN_MEMORY = 8 << 20
"""Bytes up to which an export is kept in RAM."""
CHUNK = 1 << 20


class Export:
    """Iterate it for its lines, `str()` it for all of them, `write()` it to a file."""

    def __init__(self, stream: IO[bytes], *, user: str | None, counts: Mapping[str, int]) -> None:
        self._stream = stream
        weakref.finalize(self, stream.close)
        self.user = user
        self.counts = dict(counts)
        """How many records of each kind: `messages`, `fact_versions`, `sources` …"""

    def __iter__(self) -> Iterator[str]:
        return (line.decode("ascii").removesuffix("\n") for _, line in self.places())

    def places(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line with the place that `at` finds it by."""
        place = 0
        while line := self.at(place):
            yield place, line
            place += len(line)

    def at(self, place: int) -> bytes:
        self._stream.seek(place)
        return self._stream.readline()

    def __str__(self) -> str:
        self._stream.seek(0)
        return self._stream.read().decode("ascii")

    def __len__(self) -> int:
        """How many lines there are."""
        return sum(1 for _ in self.places())

    def __repr__(self) -> str:
        held = ", ".join(f"{count} {name}" for name, count in self.counts.items()) or "nothing"
        return f"<Export of {self.user!r}: {held}>"

    def write(self, to: str | PathLike[str] | IO[str] | IO[bytes]) -> None:
        """Write it to a path, whole or not at all and for the user's own eyes only, or to an open file."""
        if isinstance(to, str | PathLike):
            with private_file(to) as file:
                self._copy(file)
        else:
            self._copy(to)

    def _copy(self, file: IO[str] | IO[bytes]) -> None:
        self._stream.seek(0)
        binary = not hasattr(file, "encoding")
        while chunk := self._stream.read(CHUNK):
            file.write(chunk if binary else chunk.decode("ascii"))  # type: ignore[arg-type]

    def close(self) -> None:
        """Let go of its file. It closes itself when nobody holds it any more."""
        self._stream.close()


class Spool:
    """An export that is being written."""

    def __init__(self, to: str | PathLike[str] | None) -> None:
        self._to = None if to is None else private_file(to)
        self._file: IO[bytes] = (
            tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - the export owns it
            if self._to is None
            else self._to.__enter__()
        )
        self._counts: Counter[str] = Counter()
        self._lines = 0

    @property
    def records(self) -> int:
        return self._lines

    def take(self, records: Sequence[Archived]) -> None:
        for record in records:
            self._file.write(line_of(record).encode() + b"\n")
            if not isinstance(record, Opened | OfTenant | OfUser):
                self._counts[NAMES[type(record)]] += 1
        self._lines += len(records)

    def finish(self, user: str | None) -> Export:
        self._file.write(line_of(Ended(records=self._lines)).encode() + b"\n")
        if self._to is None:
            return Export(self._file, user=user, counts=self._counts)
        self._to.__exit__(None, None, None)
        return Export(self._to.path.open("rb"), user=user, counts=self._counts)

    def give_up(self) -> None:
        if self._to is None:
            self._file.close()
        else:
            self._to.__exit__(InvalidInput, None, None)


class private_file:  # noqa: N801 - used like the function `open`
    """Open a file to be written: only the user may read it, and it takes its name when all is written."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")

    def __enter__(self) -> IO[bytes]:
        try:
            if self.path.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            self._part.unlink(missing_ok=True)
            self._file = os.fdopen(os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        except OSError as error:
            raise InvalidInput(f"{self.path}: cannot be written: {error.strerror}") from error
        return self._file

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        if failed is None:
            self._part.replace(self.path)
        else:
            with suppress(FileNotFoundError):
                self._part.unlink()
