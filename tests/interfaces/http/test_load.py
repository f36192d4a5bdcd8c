"""The load of `make bench-service`, small: no error, and nothing that was acknowledged is lost."""

from pathlib import Path

from bench.service import UNLIMITED, load, lost
from tests.interfaces.http.live import live


async def test_many_clients_at_once_get_answers_and_lose_nothing(tmp_path: Path) -> None:
    with live(tmp_path / "home", api_limit_read=UNLIMITED, api_limit_write=UNLIMITED) as running:
        port = int(running.url.rpartition(":")[2])
        run = await load(port, clients=20, users=5, seconds=2, pause=0)
        assert run.errors == []
        assert run.written
        assert await lost(port, run.written) == 0
