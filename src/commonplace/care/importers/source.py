"""A file to be imported, read in pieces: by lines, or by the elements of one large JSON array.

A zip is looked into for its `conversations.json`, or the numbered files of a large one. Nothing is read whole but what
has to be, and that has a limit.
"""

import codecs
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import IO, cast

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json

CHUNK = 1 << 16
LONGEST = 256 << 20
"""Bytes of a line, and characters of one element or document."""
SPACE = " \t\r\n"
WANTED = re.compile(r"conversations(-\d+)?\.json")

Given = str | PathLike[str] | IO[bytes] | IO[str] | Iterable[str]
"""A path, an open file, or lines."""


class Source:
    """Use it as a context manager: it closes the file that it has opened."""

    def __init__(self, given: Given) -> None:
        self._closing = ExitStack()
        self.size: int | None = None
        """Bytes, if that is known."""
        self.name = "the lines"
        self._parts: Iterator[IO[bytes]] = iter(())
        self._before = 0
        try:
            self._stream = self._opened(given)
        except BaseException:
            self._closing.close()
            raise

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @property
    def done(self) -> int:
        """Bytes taken from it so far."""
        return self._before + self._chunks.taken

    def head(self) -> bytes:
        """Return the first bytes, and leave them to be read."""
        return self._stream.peek(CHUNK)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line that is not blank with its number, from 1. Raises InvalidInput for one without end."""
        number = 0
        while line := self._stream.readline(LONGEST):
            number += 1
            if len(line) == LONGEST:
                raise InvalidInput(f"line {number} is longer than {LONGEST:,} bytes")
            if line.strip():
                yield number, line

    def values(self) -> Iterator[Json]:
        """Yield the elements of the array that the file is; a file that is something else is one value.

        Raises InvalidInput where the file cannot be read on.
        """
        yield from _elements(_Text(self._stream))
        for part in self._parts:
            yield from _elements(_Text(self._buffered(_chunks_of(part))))

    def _opened(self, given: Given) -> io.BufferedReader:
        if isinstance(given, str | PathLike):
            path, self.name = Path(given), str(given)
            try:
                given = self._closing.enter_context(path.open("rb"))
                self.size = path.stat().st_size
            except OSError as error:
                raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error
        stream = self._buffered(_chunks_of(given))
        if stream.peek(4)[:4] != b"PK\x03\x04":
            return stream
        if not isinstance(given, io.BufferedIOBase) or not given.seekable():
            raise InvalidInput(f"{self.name}: a zip can only be read from a file")
        given.seek(0)
        return self._buffered(_chunks_of(self._unzipped(given)))

    def _buffered(self, chunks: Iterator[bytes]) -> io.BufferedReader:
        self._chunks = _Chunks(chunks)
        return io.BufferedReader(self._chunks, CHUNK)

    def _unzipped(self, file: io.BufferedIOBase) -> IO[bytes]:
        try:
            archive = self._closing.enter_context(zipfile.ZipFile(cast(IO[bytes], file)))
            found = [one for one in archive.infolist() if WANTED.fullmatch(Path(one.filename).name)]
            if not found:
                raise InvalidInput(f"{self.name}: this zip has no conversations.json")
            self.size = sum(one.file_size for one in found)
            first, *others = sorted(found, key=lambda one: one.filename)
            self._parts = (self._part(archive, one) for one in others)
            return self._closing.enter_context(archive.open(first))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise InvalidInput(f"{self.name}: this zip cannot be read: {error}") from error

    def _part(self, archive: zipfile.ZipFile, one: zipfile.ZipInfo) -> IO[bytes]:
        self._before = self.done
        try:
            return self._closing.enter_context(archive.open(one))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise InvalidInput(f"{self.name}: {one.filename} in this zip cannot be read: {error}") from error


def _elements(text: "_Text") -> Iterator[Json]:
    if text.next_character() != "[":
        yield text.rest()
        return
    text.skip(1)
    while (character := text.next_character()) != "]":
        if character == ",":
            text.skip(1)
            continue
        yield text.value()


class _Chunks(io.RawIOBase):
    """Pieces of bytes as a stream, counted."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._pieces, self._rest = chunks, b""
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
            self.taken += len(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _chunks_of(given: IO[bytes] | IO[str] | Iterable[str]) -> Iterator[bytes]:
    if hasattr(given, "read"):
        while chunk := given.read(CHUNK):
            yield chunk if isinstance(chunk, bytes) else chunk.encode("utf-8", "surrogatepass")
        return
    for line in given:
        text = line if isinstance(line, bytes) else str(line).encode("utf-8", "surrogatepass")
        yield text if text.endswith(b"\n") else text + b"\n"


class _Text:
    """JSON text that is decoded as it is read: what was read is let go of."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = json.JSONDecoder()
        self._buffer, self._at, self._values = "", 0, 0
        self._ended = False

    def next_character(self) -> str:
        """Return the next character that is no space, and leave it there; `]` at the end of the file."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in SPACE:
                self._at += 1
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more(CHUNK):
                if self._values or self._buffer:
                    raise InvalidInput("the file ends in the middle: it was cut short")
                raise InvalidInput("the file is empty")

    def skip(self, count: int) -> None:
        self._at += count

    def value(self) -> Json:
        """Return the next element, with as much of the file as that takes."""
        while True:
            try:
                value, self._at = self._decoder.raw_decode(self._buffer, self._at)
            except RecursionError:
                raise InvalidInput(f"element {self._values + 1} is nested too deeply") from None
            except json.JSONDecodeError as error:
                size = len(self._buffer) - self._at
                if size > LONGEST:
                    raise InvalidInput(f"element {self._values + 1} is longer than {LONGEST:,} characters") from None
                if not self._more(max(CHUNK, size)):
                    raise InvalidInput(f"element {self._values + 1} is not JSON: {error}") from None
            else:
                self._values += 1
                decoded: Json = value
                return decoded

    def rest(self) -> Json:
        while len(self._buffer) <= LONGEST and self._more(max(CHUNK, len(self._buffer))):
            pass
        if len(self._buffer) > LONGEST:
            raise InvalidInput(f"the file is longer than {LONGEST:,} characters")
        try:
            decoded: Json = json.loads(self._buffer)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"not JSON: {error}") from None
        return decoded

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        piece = self._stream.read(size)
        try:
            text = self._decode.decode(piece, not piece)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"not UTF-8: {error.reason}") from None
        self._buffer, self._at = self._buffer[self._at :] + text, 0
        self._ended = not piece
        return bool(piece)
