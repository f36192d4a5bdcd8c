"""Who comes in, how often, and in what form they are refused."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.domain.keys import new_key
from commonplace.interfaces.http.running import run
from commonplace.wiring import Location
from tests.interfaces.http.conftest import Running, running

RECALL = {"query": "", "user": "u1"}


async def test_as_soon_as_there_is_a_key_everybody_needs_one(server: Running) -> None:
    assert (await server.client.post("/v1/recall", json=RECALL)).status_code == 200
    shown = await server.key()
    refused = await server.client.post("/v1/recall", json=RECALL)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.headers["content-type"] == "application/problem+json"
    assert (await server.client.post("/v1/recall", json=RECALL, headers=shown)).status_code == 200


@pytest.mark.parametrize("header", ["X-API-Key", "X-Commonplace-Key"])
async def test_a_key_may_come_in_other_headers(guarded: Running, header: str) -> None:
    token = (await guarded.key())["Authorization"].removeprefix("Bearer ")
    assert (await guarded.client.get("/stats", headers={header: token})).status_code == 200


async def test_a_key_that_is_wrong_expired_or_revoked_opens_nothing(guarded: Running) -> None:
    now = datetime.now(UTC)
    key, token = new_key(tenant="default", user=None, role="admin", label="", now=now)
    await guarded.service.keys.add_key(key)
    old, spent = new_key(
        tenant="default", user=None, role="admin", label="", now=now - timedelta(days=2), expires_at=now
    )
    await guarded.service.keys.add_key(old)
    assert (await guarded.client.get("/stats", headers={"Authorization": f"Bearer {token}"})).status_code == 200
    await guarded.service.keys.revoke_key(key.id, at=now)
    for shown in (f"Bearer {token}", f"Bearer {spent}", f"Bearer cp_{key.id}_x", "Bearer x", "Basic eDp5", f"{token}"):
        answer = await guarded.client.get("/stats", headers={"Authorization": shown})
        assert answer.status_code == 401, shown
        assert token.secret not in answer.text


async def test_a_role_may_do_what_it_says_and_no_more(guarded: Running) -> None:
    read, write = await guarded.key(role="read"), await guarded.key(role="write")
    said = {"content": "I live in Berlin", "user": "u1"}
    assert (await guarded.client.post("/v1/recall", json=RECALL, headers=read)).status_code == 200
    assert (await guarded.client.post("/v1/messages", json=said, headers=read)).status_code == 403
    assert (await guarded.client.post("/v1/messages", json=said, headers=write)).status_code == 201
    assert (await guarded.client.post("/v1/doctor", json={}, headers=write)).status_code == 403
    whole = {"whole_tenant": "default"}
    assert (await guarded.client.post("/v1/forget", json=whole, headers=write)).status_code == 403


async def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with running(tmp_path / "home", api_limit_read="2/minute") as server:
        answers = [await server.client.post("/v1/recall", json=RECALL) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[0].headers["ratelimit-remaining"] == "1"
        assert 0 < int(answers[2].headers["retry-after"]) <= 60
        written = await server.client.post("/v1/messages", json={"content": "Hello", "user": "u1"})
        assert written.status_code == 201, "another class of routes has a limit of its own"
        other = await server.key()
        assert (await server.client.post("/v1/recall", json=RECALL, headers=other)).status_code == 200


async def test_a_request_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path / "home", api_max_body=100) as server:
        answer = await server.client.post("/v1/messages", json={"content": "x" * 200})
        assert answer.status_code == 413

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(5):
                yield b"x" * 50

        answer = await server.client.post("/v1/messages", content=chunks())
        assert answer.status_code == 413


async def test_pages_of_other_sites_and_foreign_host_names_are_refused(server: Running) -> None:
    origins, hosts = ("https://evil.example", "null", "http://[", "http://[x]"), ("evil.example", "[::1", "[x]", "")
    for headers in (*({"Origin": origin} for origin in origins), *({"Host": host} for host in hosts)):
        answer = await server.client.post("/v1/recall", json=RECALL, headers=headers)
        assert answer.status_code == 403, headers
    own = await server.client.post("/v1/recall", json=RECALL, headers={"Origin": "http://localhost"})
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


async def test_a_site_that_was_named_may_call(tmp_path: Path) -> None:
    async with running(tmp_path / "home", api_cors_origins="https://a.example") as server:
        headers = {"Origin": "https://a.example"}
        answer = await server.client.post("/v1/recall", json=RECALL, headers=headers)
        assert answer.headers["access-control-allow-origin"] == "https://a.example"
        asking = headers | {"Access-Control-Request-Method": "POST"}
        assert (await server.client.options("/v1/recall", headers=asking)).status_code == 200


async def test_every_answer_has_a_request_id_and_secure_headers(server: Running) -> None:
    for path in ("/v1/recall", "/nowhere", "/healthz"):
        answer = await server.client.get(path, headers={"X-Request-ID": "mine-1"})
        assert answer.headers["x-request-id"] == "mine-1"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    odd = await server.client.get("/nowhere", headers={"X-Request-ID": "no\tgood"})
    assert odd.headers["x-request-id"] != "no\tgood"
    assert odd.json()["request_id"] == odd.headers["x-request-id"]


async def test_a_wrong_method_is_told_the_right_ones(server: Running) -> None:
    answer = await server.client.delete("/v1/facts")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_others_are_let_in_only_where_there_is_a_key(tmp_path: Path, host: str) -> None:
    with pytest.raises(InvalidInput, match="key create"):
        run(Location.parse(tmp_path / "home"), {"api_host": host, "api_port": 0}, told=lambda url: None)
