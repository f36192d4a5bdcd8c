"""A service with Redis: limits count for all processes, and a server that is away is told, not felt."""

from functools import partial
from pathlib import Path

from tests.interfaces.http.conftest import running
from tests.servers import free_port, redis_running


async def test_two_services_share_a_limit(tmp_path: Path, redis_url: str) -> None:
    opened = partial(running, tmp_path / "home", redis_url=redis_url, api_limit_read="5/day")
    async with opened() as one, opened() as two:
        header = await one.key()
        got = [(await (one, two)[n % 2].client.get("/v1/facts", headers=header)).status_code for n in range(7)]
        assert got == [200] * 5 + [429] * 2


async def test_a_server_that_was_never_reached_is_not_counted_as_up(tmp_path: Path) -> None:
    async with running(tmp_path / "home", redis_url=f"redis://127.0.0.1:{free_port()}") as server:
        assert 'commonplace_redis{what="up"} 0.0' in (await server.client.get("/metrics")).text
        assert (await server.client.get("/v1/stats")).json()["copies"]["up"] == 0


async def test_requests_are_answered_and_counted_while_redis_is_stopped(tmp_path: Path) -> None:
    port = free_port()
    url = f"redis://127.0.0.1:{port}"
    async with running(tmp_path / "home", redis_url=url, api_limit_read="5/day") as server:
        with redis_running(port=port):
            assert (await server.client.get("/readyz")).json()["checks"]["redis"] == "ok"
            assert 'commonplace_redis{what="up"} 1.0' in (await server.client.get("/metrics")).text
            assert (await server.client.post("/v1/messages", json={"content": "Hi", "session": "s"})).status_code == 201
        header = await server.key()
        got = [(await server.client.get("/v1/facts", headers=header)).status_code for _ in range(7)]
        assert got == [200] * 5 + [429] * 2
        said = {"content": "Hi again", "session": "s"}
        assert (await server.client.post("/v1/messages", json=said, headers=header)).status_code == 201
        ready = await server.client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert ready.json()["checks"]["redis"] != "ok"
        metrics = await server.client.get("/metrics", headers=await server.key())
        assert 'commonplace_redis{what="up"} 0.0' in metrics.text
