"""Idempotency-Key: asked twice, done once."""

import asyncio
from pathlib import Path

from tests.interfaces.http.conftest import Running, running

SAID = {"content": "I live in Berlin", "user": "u1"}
AGAIN = {"Idempotency-Key": "k1"}


async def count(server: Running, user: str = "u1") -> int:
    return len((await server.client.get("/v1/messages", params={"user": user})).json()["items"])


async def test_the_same_request_twice_is_done_once_and_answered_alike(server: Running) -> None:
    first = await server.client.post("/v1/messages", json=SAID, headers=AGAIN)
    second = await server.client.post("/v1/messages", json=SAID, headers=AGAIN)
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second.headers["idempotent-replayed"] == "true"
    assert await count(server) == 1


async def test_another_body_or_path_under_the_same_key_is_refused(server: Running) -> None:
    await server.client.post("/v1/messages", json=SAID, headers=AGAIN)
    other = await server.client.post("/v1/messages", json=SAID | {"content": "I live in Rome"}, headers=AGAIN)
    assert other.status_code == 422
    elsewhere = await server.client.post("/v1/recall", json={"query": ""}, headers=AGAIN)
    assert elsewhere.status_code == 422
    assert await count(server) == 1


async def test_it_outlives_the_process(tmp_path: Path) -> None:
    async with running(tmp_path / "home") as server:
        first = await server.client.post("/v1/messages", json=SAID, headers=AGAIN)
    async with running(tmp_path / "home") as server:
        second = await server.client.post("/v1/messages", json=SAID, headers=AGAIN)
        assert second.content == first.content
        assert await count(server) == 1


async def test_who_asks_at_the_same_time_is_told_to_wait_or_gets_the_answer(server: Running) -> None:
    answers = await asyncio.gather(*(server.client.post("/v1/messages", json=SAID, headers=AGAIN) for _ in range(8)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert await count(server) == 1


async def test_what_was_refused_may_be_asked_again(server: Running) -> None:
    wrong = await server.client.post("/v1/messages", json={"content": "  "}, headers=AGAIN)
    assert wrong.status_code == 422
    assert (await server.client.post("/v1/messages", json=SAID, headers=AGAIN)).status_code == 201


async def test_a_late_retry_does_not_bring_back_what_was_forgotten(server: Running) -> None:
    await server.client.post("/v1/messages", json=SAID, headers=AGAIN)
    found = {"Idempotency-Key": "k2"}
    await server.client.post("/v1/recall", json={"query": "Berlin", "user": "u1"}, headers=found)
    await server.client.post("/v1/forget", json={"user": "u1"})
    assert (await server.client.post("/v1/messages", json=SAID, headers=AGAIN)).status_code == 409
    again = await server.client.post("/v1/recall", json={"query": "Berlin", "user": "u1"}, headers=found)
    assert again.status_code == 409
    assert "Berlin" not in again.text
    assert await count(server) == 0


async def test_a_key_of_another_caller_is_another_request(server: Running) -> None:
    one, two = await server.key(), await server.key()
    for caller in (one, two):
        assert (await server.client.post("/v1/messages", json=SAID, headers=AGAIN | caller)).status_code == 201
    assert len((await server.client.get("/v1/messages", params={"user": "u1"}, headers=one)).json()["items"]) == 2


async def test_a_stream_is_answered_alike_too(server: Running) -> None:
    asked = {"user_input": "I live in Berlin", "user_id": "u1", "stream": True}
    first = await server.client.post("/chat", json=asked, headers=AGAIN)
    second = await server.client.post("/chat", json=asked, headers=AGAIN)
    assert second.text == first.text
    assert await count(server) == 1


async def test_an_empty_or_endless_key_is_refused(server: Running) -> None:
    for key in ("", "x" * 256):
        answer = await server.client.post("/v1/messages", json=SAID, headers={"Idempotency-Key": key})
        assert answer.status_code == 422
