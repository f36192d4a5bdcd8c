"""If-Match holds between processes that serve one ledger: of two who have read the same, one changes it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest

from tests.faults.test_kill_service import serving
from tests.servers import free_port

ROUNDS = 8
ONE = [200, 412, 412, 412]


@pytest.fixture
async def two(tmp_path: Path, environment: dict[str, str]) -> AsyncIterator[list[httpx2.AsyncClient]]:
    ports = [free_port(), free_port()]
    async with AsyncExitStack() as stack:
        for port in ports:
            stack.enter_context(serving(tmp_path / "home", port, environment))
        yield [
            await stack.enter_async_context(httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60))
            for port in ports
        ]


async def raced(
    two: list[httpx2.AsyncClient], method: str, path: str, text: Callable[[int], str]
) -> list[httpx2.Response]:
    """Read, and let four change what was read at the same time, two in each process."""
    headers = {"If-Match": (await two[0].get(path)).headers["etag"]}
    changing = (
        client.request(method, path, json={"text": text(number)}, headers=headers)
        for number, client in enumerate(two * 2)
    )
    return list(await asyncio.gather(*changing))


async def test_of_two_processes_one_changes_what_both_have_read(two: list[httpx2.AsyncClient]) -> None:
    block, texts = "/v1/blocks/profile", ["first"]
    await two[0].put(block, json={"text": "first"})
    fact = f"/v1/facts/{(await two[0].post('/v1/facts', json={'text': 'The number is none'})).json()['id']}"
    for turn in range(ROUNDS):
        done = await raced(two, "PUT", block, f"{turn} by {{}}".format)
        assert sorted(answer.status_code for answer in done) == ONE
        texts += [answer.json()["text"] for answer in done if answer.is_success]
        changed = await raced(two, "PATCH", fact, f"The number is {turn} by {{}}".format)
        assert sorted(answer.status_code for answer in changed) == ONE
    history = (await two[1].get(f"{block}/history")).json()["items"]
    assert [one["text"] for one in history] == texts
    assert len((await two[1].get(f"{fact}/history")).json()["items"]) == ROUNDS + 1
