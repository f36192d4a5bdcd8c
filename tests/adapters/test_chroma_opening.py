"""What using Chroma does to the rest of the process: no import before it is needed, no network, no blocking."""

import subprocess
import sys
from pathlib import Path

import chromadb
import pytest

from commonplace.adapters.chroma.index import ChromaIndex, InProcess, Server
from commonplace.domain.errors import InvalidInput
from tests.contracts.vector_index import ANA, axis, found

START = """
import asyncio, os, sys
from pathlib import Path
from commonplace.adapters.chroma.index import ChromaIndex, Embedded, InProcess
from tests.contracts.vector_index import ANA, axis
places = [Embedded(Path("chroma")), InProcess()]
"""

OPEN_ONLY = """
async def main() -> None:
    for place in places:
        async with ChromaIndex(place) as index:
            assert index.owned
    print([name for name in sys.modules if name.partition(".")[0] in ("chromadb", "httpx", "onnxruntime")])
    print(sorted(os.listdir()))
"""

USE = """
events = []
sys.addaudithook(lambda event, args: events.append((event, args)) if event.startswith("socket.") else None)

async def main() -> None:
    for place in places:
        async with ChromaIndex(place) as index:
            await index.upsert(ANA, {n: axis(n) for n in range(8)})
            await index.search(ANA, axis(0), limit=1)
            await index.drop(ANA)
            links = [os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()]
            opened = {link.rpartition("socket:[")[2].rstrip("]") for link in links if "socket:[" in link}
            on_the_net = {line.split()[9] for name in ("tcp", "tcp6", "udp", "udp6") for line in lines(name)}
            print(opened & on_the_net)
    print([event for event, _ in events if event not in ("socket.__new__", "socket.gethostname")])

def lines(name: str) -> list[str]:
    return Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]
"""

STAY_AWAKE = """
async def main() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    async with ChromaIndex(InProcess()) as index:
        await index.upsert(ANA, {1: axis(0)})
    ticking.cancel()
    print(ticks > 5)
"""


def output(script: str, folder: Path, environment: dict[str, str]) -> list[str]:
    """Run it in a process of its own, in that folder."""
    repository = Path(__file__).parents[2]
    command = [sys.executable, "-c", START + script + "\nasyncio.run(main())"]
    path = {"PYTHONPATH": f"{repository / 'src'}:{repository}"}
    run = subprocess.run(command, cwd=folder, env=environment | path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_an_index_that_is_not_used_imports_nothing_and_makes_no_folder(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    assert output(OPEN_ONLY, tmp_path, environment) == ["[]", "['chroma.lock']"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files as Linux shows them")
def test_it_opens_no_connection_whatever_the_environment_says(tmp_path: Path, environment: dict[str, str]) -> None:
    """Its settings could make it, and it would take them from the environment. Rust's sockets only Linux shows."""
    hostile = {
        "ANONYMIZED_TELEMETRY": "true",
        "CHROMA_OTEL_COLLECTION_ENDPOINT": "http://198.51.100.1:4317",
        "CHROMA_OTEL_GRANULARITY": "all",
        "CHROMA_API_IMPL": "chromadb.api.fastapi.FastAPI",
        "CHROMA_SERVER_HOST": "198.51.100.1",
        "IS_PERSISTENT": "true",
        "PERSIST_DIRECTORY": str(tmp_path / "elsewhere"),
    }
    (tmp_path / ".env").write_text("\n".join(f"{name}={value}" for name, value in hostile.items()))
    assert output(USE, tmp_path, environment | hostile) == ["set()", "set()", "[]"]
    assert not (tmp_path / "elsewhere").exists()


def test_the_event_loop_goes_on_while_chromadb_is_imported(tmp_path: Path, environment: dict[str, str]) -> None:
    assert output(STAY_AWAKE, tmp_path, environment) == ["True"]


async def test_what_is_in_memory_is_shared_with_no_other_index_in_the_process() -> None:
    async with ChromaIndex(InProcess()) as first, ChromaIndex(InProcess()) as second:
        await first.upsert(ANA, {1: axis(0)})
        assert await second.collections() == {}
        await second.close()
        assert await found(first, ANA, axis(0)) == [1]


async def test_it_does_not_disturb_a_chroma_that_the_application_uses_itself() -> None:
    async with ChromaIndex(InProcess()) as index:
        await index.upsert(ANA, {1: axis(0)})
        with chromadb.EphemeralClient() as theirs:  # type: ignore[attr-defined]
            assert theirs.list_collections() == []
            theirs.create_collection("theirs", embedding_function=None)
            assert await index.collections() == {ANA: 1}
            await index.close()
            assert [collection.name for collection in theirs.list_collections()] == ["theirs"]
            theirs.delete_collection("theirs")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://localhost", "http://", ""])
def test_a_server_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="chroma_url"):
        Server(url)


def test_a_token_is_not_shown() -> None:
    server = Server("https://chroma.example:8443", token="hidden")
    assert str(server) == "https://chroma.example:8443"
    assert "hidden" not in repr(server)
