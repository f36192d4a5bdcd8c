"""Getting the model and keeping it. Small files stand in for the large ones: what is pinned is an argument."""

import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commonplace.adapters.onnx import pinned
from commonplace.adapters.onnx.model_files import MANIFEST, MODEL, TOKENIZER, ModelFiles, Ready, read_model
from commonplace.adapters.onnx.pinned import IDENTITY, PinnedFile
from commonplace.adapters.onnx.progress import Progress, Step, silent
from commonplace.adapters.onnx.sources import Folder, Source
from commonplace.domain.errors import EmbedderUnavailable

ROOT = Path(__file__).parent.parent.parent
ORIGINALS = {"model.safetensors": b"weights " * 1_000, "tokenizer.json": b'{"pieces": []}'}
PINNED = tuple(PinnedFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in ORIGINALS.items())


def build(folder: Path, target: Path, progress: Progress) -> None:
    target.write_bytes(b"graph of " + (folder / "model.safetensors").read_bytes())


def write_originals(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, data in ORIGINALS.items():
        (folder / name).write_bytes(data)
    return folder


@dataclass
class Counting:
    """A source that has the files, and counts how often it was asked for them."""

    folder: Path
    label: str = "counting"
    asked: int = 0

    def obtain(self, into: Path, progress: Progress) -> None:
        self.asked += 1
        Folder(self.folder, PINNED).obtain(into, progress)


@dataclass
class Nowhere:
    reason: str
    label: str = field(default="nowhere")

    def obtain(self, into: Path, progress: Progress) -> None:
        raise EmbedderUnavailable(self.reason)


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    return write_originals(tmp_path / "originals")


@pytest.fixture
def source(originals: Path) -> Counting:
    return Counting(originals)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def opened(cache: Path, source: Counting) -> Callable[..., ModelFiles]:
    def opened(*, sources: Sequence[Source] = (source,), explicit: Path | None = None) -> ModelFiles:
        return ModelFiles(cache, build=build, sources=sources, explicit=explicit)

    return opened


Opened = Callable[..., ModelFiles]


def test_a_fetched_model_is_ready_and_says_where_it_came_from(opened: Opened, cache: Path) -> None:
    status = opened().fetch()
    assert status == opened().describe()
    assert (status.ready, status.reason, status.identity) == (True, None, IDENTITY)
    assert status.source == "counting"
    assert status.path == cache / "all-MiniLM-L6-v2-int8-per-channel"
    for file in status.files:
        data = (status.path / file.name).read_bytes()
        assert (file.size, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_loading_returns_what_was_built(opened: Opened) -> None:
    loaded = opened().load()
    assert loaded.onnx == b"graph of " + ORIGINALS["model.safetensors"]
    assert loaded.tokenizer == ORIGINALS["tokenizer.json"]


def test_nobody_else_can_read_the_files(opened: Opened, cache: Path) -> None:
    opened().fetch()
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (cache, *cache.rglob("*"))}
    assert {path: oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_describing_changes_nothing(opened: Opened, cache: Path) -> None:
    status = opened(sources=[Nowhere("x", "here"), Nowhere("y", "there")]).describe()
    assert (status.ready, status.reason, status.files) == (False, "nothing there", ())
    assert status.would_try == ("here", "there")
    assert not cache.exists()


def test_what_is_there_is_not_fetched_again(opened: Opened, source: Counting) -> None:
    opened().fetch()
    opened().fetch()
    opened().load()
    assert source.asked == 1


def test_progress_is_told_to_the_end_of_each_step(opened: Opened) -> None:
    steps: list[Step] = []
    opened().fetch(steps.append)
    last = {step.what: step for step in steps}
    assert set(last) == {"copying model.safetensors", "copying tokenizer.json", "building the model"}
    assert all(step.done == step.total for step in last.values())


@pytest.mark.parametrize("name", ORIGINALS)
@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: data + b"!", lambda data: b"?" + data[1:], lambda _: b""]
)
def test_an_original_that_is_not_the_pinned_one_is_refused(
    opened: Opened, originals: Path, cache: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    (originals / name).write_bytes(change(ORIGINALS[name]))
    with pytest.raises(EmbedderUnavailable, match=f"{name} is not the pinned file") as raised:
        opened().load()
    assert next(file.sha256 for file in PINNED if file.name == name) in str(raised.value)
    assert [path.name for path in cache.iterdir()] == [".lock"]


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_cached_file_that_was_changed_is_made_again(opened: Opened, source: Counting, name: str) -> None:
    path = opened().fetch().path / name
    good = path.read_bytes()
    path.write_bytes(b"!" + good[1:])
    assert "has been changed" in (opened().describe().reason or "")
    opened().load()
    assert path.read_bytes() == good
    assert source.asked == 2


def test_a_changed_model_that_cannot_be_made_again_is_refused(opened: Opened) -> None:
    path = opened().fetch().path / MODEL
    path.write_bytes(b"something else")
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx has been changed.*elsewhere: no"):
        opened(sources=[Nowhere("no", "elsewhere")]).load()


@pytest.mark.parametrize(
    "manifest", ["", "[]", "null", "{}", '{"files": 3}', '{"files": [{"name": "model.onnx"}]}', "\0", "{" * 10_000]
)
def test_a_manifest_that_makes_no_sense_is_damage_not_a_crash(opened: Opened, manifest: str) -> None:
    path = opened().fetch().path
    (path / MANIFEST).write_text(manifest)
    assert not opened().describe().ready
    assert isinstance(read_model(opened().fetch().path), Ready)


def test_a_model_of_another_identity_is_not_used(opened: Opened) -> None:
    path = opened().fetch().path / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {"identity": "all-MiniLM-L6-v2/other"}))
    assert "all-MiniLM-L6-v2/other" in (opened().describe().reason or "")


@pytest.mark.parametrize("name", [MODEL, TOKENIZER, MANIFEST])
def test_a_missing_file_is_made_again(opened: Opened, name: str) -> None:
    path = opened().fetch().path
    (path / name).unlink()
    assert not opened().describe().ready
    assert opened().fetch().ready


def test_sources_are_tried_in_order_and_each_failure_is_told(opened: Opened, source: Counting) -> None:
    reasons = [Nowhere("not installed", "wheel"), Nowhere("no route", "index")]
    assert opened(sources=[*reasons, source]).fetch().source == "counting"


def test_the_error_gives_the_command_and_every_place_that_was_tried(opened: Opened) -> None:
    with pytest.raises(EmbedderUnavailable) as raised:
        opened(sources=[Nowhere("not installed", "wheel"), Nowhere("no route", "hub")]).load()
    said = str(raised.value)
    assert "`commonplace model fetch`" in said
    assert "nothing there" in said
    assert "wheel: not installed; hub: no route" in said


def test_a_model_that_does_not_pass_its_check_is_not_kept(cache: Path, source: Counting) -> None:
    def refuse(folder: Path, target: Path, progress: Progress) -> None:
        target.write_bytes(b"half")
        raise EmbedderUnavailable("mean cosine 0.5")

    with pytest.raises(EmbedderUnavailable, match=r"counting: mean cosine 0\.5"):
        ModelFiles(cache, build=refuse, sources=[source]).load()
    assert [path.name for path in cache.iterdir()] == [".lock"]


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, source: Counting) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(EmbedderUnavailable, match="cache .*/file/cache"):
        ModelFiles(tmp_path / "file" / "cache", build=build, sources=[source]).load()


class TestExplicitPath:
    def test_one_that_is_missing_is_an_error_even_if_the_cache_has_the_model(self, opened: Opened) -> None:
        opened().fetch()
        missing = opened(explicit=Path("/nowhere/model"))
        assert missing.describe().reason == "/nowhere/model does not exist"
        with pytest.raises(EmbedderUnavailable, match=r"`commonplace model fetch`.*/nowhere/model does not exist"):
            missing.load()

    def test_a_built_model_is_used_where_it_lies(self, opened: Opened, tmp_path: Path, cache: Path) -> None:
        shutil.move(opened().fetch().path, tmp_path / "image")
        status = opened(explicit=tmp_path / "image").fetch()
        assert (status.ready, status.path) == (True, tmp_path / "image")
        assert [path.name for path in cache.iterdir()] == [".lock"]

    def test_a_built_model_that_was_changed_is_refused_and_left_alone(self, opened: Opened, tmp_path: Path) -> None:
        shutil.move(opened().fetch().path, tmp_path / "image")
        (tmp_path / "image" / MODEL).write_bytes(b"something else")
        with pytest.raises(EmbedderUnavailable, match="has been changed"):
            opened(explicit=tmp_path / "image").load()
        assert (tmp_path / "image" / MODEL).read_bytes() == b"something else"

    def test_no_other_source_is_tried(self, opened: Opened, source: Counting, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors"):
            opened(explicit=tmp_path / "empty").load()
        assert source.asked == 0

    def test_files_that_are_not_the_pinned_ones_are_refused(self, opened: Opened, originals: Path) -> None:
        with pytest.raises(EmbedderUnavailable, match=pinned.WEIGHTS.sha256):
            opened(explicit=originals).load()


# Another process runs this module: it builds slowly, and leaves a mark whenever it does.
def run_in_a_process(cache: Path, originals: Path, marks: Path, *, hang: bool, together: int) -> None:
    def build_slowly(folder: Path, target: Path, progress: Progress) -> None:
        (marks / f"built-by-{os.getpid()}").touch()
        time.sleep(0.3)
        if hang:
            target.write_bytes(b"half a")
            signal.pause()
        build(folder, target, progress)

    (marks / f"started-{os.getpid()}").touch()
    while len(list(marks.glob("started-*"))) < together:
        time.sleep(0.01)
    ModelFiles(cache, build=build_slowly, sources=[Counting(originals)]).fetch(silent)


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(cache: Path, originals: Path, marks: Path, environment: dict[str, str]) -> Start:
    folders = [str(folder) for folder in (cache, originals, marks)]
    module = "from pathlib import Path; from tests.adapters.test_model_files import run_in_a_process as run"
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])

    def start(*, hang: bool = False, together: int = 1) -> subprocess.Popen[bytes]:
        program = f"{module}; run(*map(Path, {folders}), hang={hang}, together={together})"
        return subprocess.Popen([sys.executable, "-c", program], env=environment | {"PYTHONPATH": paths})

    return start


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def test_of_several_processes_at_once_one_builds_and_all_have_the_model(
    opened: Opened, start: Start, marks: Path
) -> None:
    processes = [start(together=3) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(list(marks.glob("built-by-*"))) == 1
    assert opened().describe().ready


def test_a_killed_process_leaves_no_half_model(opened: Opened, start: Start, cache: Path, marks: Path) -> None:
    process = start(hang=True)
    while not list(cache.rglob(MODEL)):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not opened().describe().ready
    assert opened().fetch().ready
    assert sorted(path.name for path in cache.iterdir()) == [".lock", "all-MiniLM-L6-v2-int8-per-channel"]
