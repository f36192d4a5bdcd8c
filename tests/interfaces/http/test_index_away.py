"""A service whose vector index is on a server that is away: it is told in every place where one would look."""

from pathlib import Path

from tests.interfaces.http.conftest import running
from tests.servers import free_port


async def test_an_index_that_is_away_is_told_and_takes_nothing_else_with_it(tmp_path: Path) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    async with running(tmp_path / "home", index="chroma", chroma_url=away) as server:
        said = {"content": "I live in Porto", "user": "u1"}
        assert (await server.client.post("/v1/messages", json=said)).status_code == 201
        found = (await server.client.post("/v1/recall", json={"query": "where do I live", "user": "u1"})).json()
        assert found["items"]
        assert any("chroma" in note for note in found["notes"])
        metrics = await server.client.get("/metrics")
        assert metrics.status_code == 200
        assert 'commonplace_index{what="up"} 0.0' in metrics.text
        stats = await server.client.get("/v1/stats")
        assert stats.status_code == 200
        assert stats.json()["index_calls"]["up"] == 0
        ready = await server.client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert ready.json()["checks"]["index"].startswith("IndexUnavailable")
        (finding,) = (await server.client.post("/v1/doctor", json={})).json()["findings"]
        assert (finding["check"], finding["severity"]) == ("index", "warning")


async def test_an_index_that_nobody_has_needed_yet_is_looked_at_by_the_doctor(tmp_path: Path) -> None:
    async with running(tmp_path / "home", chroma_url=f"http://127.0.0.1:{free_port()}") as server:
        assert (await server.client.get("/readyz")).json()["checks"]["index"] == "ok"
        (finding,) = (await server.client.post("/v1/doctor", json={})).json()["findings"]
        assert (finding["check"], finding["severity"]) == ("index", "warning")
