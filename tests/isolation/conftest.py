"""Two tenants, and two users in one of them, each with a secret; and whatever an intruder may try to get at it."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.agents import wire
from tests.backends import Backend
from tests.care.folders import settle
from tests.interfaces.http.conftest import Running, running
from tests.interfaces.http.proxies.conftest import listening

SECRET = "Zanzibarium"
"""In all that the victim holds, and in nothing else: no answer to anybody else may have it in it."""


@dataclass(frozen=True, slots=True)
class House:
    """What the victim holds, by id, and the keys of those who are not to see it."""

    server: Running
    client: httpx2.AsyncClient
    behind: wire.Service
    """The model service behind the proxies, which keeps what it was told."""
    victim: dict[str, str]
    same_tenant: dict[str, str]
    """The key of another user of the victim's tenant."""
    other_tenant: dict[str, str]
    """The key of an admin of another tenant, for all its users."""
    fact: str
    message: str
    cursor: str
    facts_cursor: str
    attachment: str

    async def ask(self, method: str, path: str, key: dict[str, str], **more: Any) -> httpx2.Response:
        headers = {**key, **more.pop("headers", {})}
        return await self.client.request(method, path, headers=headers, **more)

    @property
    def strangers(self) -> tuple[dict[str, str], ...]:
        """What those show who are not to see anything: a key, or none."""
        return self.same_tenant, self.other_tenant, {}

    def ids(self) -> dict[str, str]:
        """What an intruder may have got hold of."""
        return {
            "fact": self.fact,
            "message": self.message,
            "cursor": self.cursor,
            "facts_cursor": self.facts_cursor,
            "attachment": self.attachment,
        }


def with_ids(house: House, value: Any) -> Any:
    """Fill in what an intruder may have got hold of: `{fact}`, `{message}`, `{cursor}`, `{attachment}` …"""
    told = json.dumps(value)
    for name, known in house.ids().items():
        told = told.replace(f"{{{name}}}", known)
    return json.loads(told)


async def everything_of(house: House) -> list[str]:
    """Return all that the victim holds, as the victim sees it. What is done to a fact is in its history for good."""
    paths = ("messages", "facts", f"facts/{house.fact}/history", "blocks", "sessions/s1/state", "receipts")
    return [(await house.ask("GET", f"/v1/{path}", house.victim)).text for path in paths]


async def fill(server: Running, key: dict[str, str], *, user: str | None, secret: str) -> dict[str, Any]:
    async def post(path: str, status: int = 201, **body: Any) -> Any:
        answer = await server.client.post(path, json=body | {"user": user}, headers=key)
        assert answer.status_code == status, answer.text
        return answer.json()

    added = await post(
        "/v1/messages", content=f"My dog is called {secret}", session="s1", metadata={"topic": secret.lower()}
    )
    await post("/v1/messages", content=f"I moved to {secret} street", session="s1")
    whose: dict[str, str] = {} if user is None else {"user": user}
    sent = await server.client.post("/v1/attachments", params=whose, content=f"A file of {secret}", headers=key)
    await post(
        "/v1/messages", content=f"See the file of {secret}", attachments=[{"id": sent.json()["id"], "caption": secret}]
    )
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
        "attachment": sent.json()["id"],
    }


async def furnished(server: Running, behind: wire.Service, *, tenants: tuple[str, str] = ("acme", "globex")) -> House:
    victim = await server.key(tenant=tenants[0], user="victim", role="admin")
    same_tenant = await server.key(tenant=tenants[0], user="intruder", role="admin")
    other_tenant = await server.key(tenant=tenants[1], user=None, role="admin")
    held = await fill(server, victim, user="victim", secret=SECRET)
    for key, user in ((same_tenant, "intruder"), (other_tenant, "victim")):
        await fill(server, key, user=user, secret="Ordinary")
    for tenant in tenants:
        await settle(await server.service.memory(tenant))
    return House(server, server.client, behind, victim, same_tenant, other_tenant, **held)


@pytest.fixture(scope="module")
async def house(shared_backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One for all tests of a file: nobody changes anything of the victim's, or a test fails."""
    with wire.service(lambda asked: wire.Say("Understood.")) as behind:
        async with running(
            key_needed=True,
            api_limit_costly="9999/minute",
            proxy_openai_url=f"{behind.url}/v1",
            proxy_anthropic_url=behind.url,
            openai_api_key="sk-operator",
            anthropic_api_key="sk-ant-operator",
            **shared_backend.at(tmp_path_factory.mktemp("house")),
        ) as server:
            yield await furnished(server, behind)


@pytest.fixture(scope="module")
async def open_house(house: House) -> AsyncIterator[House]:
    """The same, asked over a socket."""
    async with listening(house.server) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        yield replace(house, client=client)


@pytest.fixture
async def fresh_house(house: House) -> House:
    """One that nobody has tried to enter yet: other tenants of the same service."""
    own = uuid4().hex
    return await furnished(house.server, house.behind, tenants=(f"acme-{own}", f"globex-{own}"))
