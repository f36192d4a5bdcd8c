"""Two tenants, and two users in one of them, each with a secret; and whatever an intruder may try to get at it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.interfaces.http.conftest import Running, running

SECRET = "Zanzibarium"
"""In all that the victim holds, and in nothing else: no answer to anybody else may have it in it."""


@dataclass(frozen=True, slots=True)
class House:
    """What the victim holds, by id, and the keys of those who are not to see it."""

    server: Running
    victim: dict[str, str]
    same_tenant: dict[str, str]
    """The key of another user of the victim's tenant."""
    other_tenant: dict[str, str]
    """The key of an admin of another tenant, for all its users."""
    fact: str
    message: str
    cursor: str
    facts_cursor: str

    async def ask(self, method: str, path: str, key: dict[str, str], **more: Any) -> httpx2.Response:
        headers = {**key, **more.pop("headers", {})}
        return await self.server.client.request(method, path, headers=headers, **more)


async def fill(server: Running, key: dict[str, str], *, user: str | None, secret: str) -> dict[str, Any]:
    async def post(path: str, status: int = 201, **body: Any) -> Any:
        answer = await server.client.post(path, json=body | {"user": user}, headers=key)
        assert answer.status_code == status, answer.text
        return answer.json()

    added = await post(
        "/v1/messages", content=f"My dog is called {secret}", session="s1", metadata={"topic": secret.lower()}
    )
    await post("/v1/messages", content=f"I moved to {secret} street", session="s1")
    fact = await post("/v1/facts", text=f"The code is {secret}", metadata={"topic": secret.lower()})
    await post("/v1/facts", text=f"The other code is {secret}")
    block = await server.client.put("/v1/blocks/profile", json={"text": secret, "user": user}, headers=key)
    assert block.status_code == 200
    state = {"values": {"secret": secret}, "user": user}
    assert (await server.client.patch("/v1/sessions/s1/state", json=state, headers=key)).status_code == 200
    where: dict[str, str | int] = {"limit": 1, **({} if user is None else {"user": user})}
    page = (await server.client.get("/v1/messages", params=where, headers=key)).json()
    facts = (await server.client.get("/v1/facts", params=where, headers=key)).json()
    return {
        "message": added["messages"][0],
        "fact": fact["id"],
        "cursor": page["next_cursor"],
        "facts_cursor": facts["next_cursor"],
    }


@asynccontextmanager
async def built(home: Path) -> AsyncIterator[House]:
    async with running(home, key_needed=True, api_limit_costly="9999/minute") as server:
        victim = await server.key(tenant="acme", user="victim", role="admin")
        same_tenant = await server.key(tenant="acme", user="intruder", role="admin")
        other_tenant = await server.key(tenant="globex", user=None, role="admin")
        held = await fill(server, victim, user="victim", secret=SECRET)
        for key, user in ((same_tenant, "intruder"), (other_tenant, "victim")):
            await fill(server, key, user=user, secret="Ordinary")
        yield House(server, victim, same_tenant, other_tenant, **held)


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One for all tests of a file: nobody changes anything of the victim's, or a test fails."""
    async with built(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture
async def fresh_house(tmp_path: Path) -> AsyncIterator[House]:
    async with built(tmp_path) as house:
        yield house
