"""Two tenants, and two users in one of them, each with a secret; and whatever an intruder may try to get at it.

The suite runs on every ledger in `LEDGERS`.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.agents import wire
from tests.interfaces.http.conftest import Running, running
from tests.interfaces.http.proxies.conftest import listening
from tests.servers import new_database

SECRET = "Zanzibarium"
"""In all that the victim holds, and in nothing else: no answer to anybody else may have it in it."""


Place = str | Path
"""A folder, or the URL of a database."""
LEDGERS = ("postgres", "sqlite")


@dataclass(frozen=True, slots=True)
class House:
    """What the victim holds, by id, and the keys of those who are not to see it."""

    server: Running
    url: str
    """Where it listens, for what has to come over a socket."""
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
        return await self.server.client.request(method, path, headers=headers, **more)

    async def post(self, path: str, body: Any, headers: dict[str, str]) -> httpx2.Response:
        async with httpx2.AsyncClient(base_url=self.url, timeout=60) as client:
            return await client.post(path, json=body, headers=headers)

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
    """Return all that the victim holds, as the victim sees it."""
    paths = ("messages", "facts", "blocks", "sessions/s1/state", "receipts")
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


@asynccontextmanager
async def built(place: Place) -> AsyncIterator[House]:
    with wire.service(lambda asked: wire.Say("Understood.")) as behind:
        async with (
            running(
                place,
                key_needed=True,
                api_limit_costly="9999/minute",
                proxy_openai_url=f"{behind.url}/v1",
                proxy_anthropic_url=behind.url,
                openai_api_key="sk-operator",
                anthropic_api_key="sk-ant-operator",
            ) as server,
            listening(server) as url,
        ):
            yield await furnished(server, url, behind)


async def furnished(server: Running, url: str, behind: wire.Service) -> House:
    victim = await server.key(tenant="acme", user="victim", role="admin")
    same_tenant = await server.key(tenant="acme", user="intruder", role="admin")
    other_tenant = await server.key(tenant="globex", user=None, role="admin")
    held = await fill(server, victim, user="victim", secret=SECRET)
    for key, user in ((same_tenant, "intruder"), (other_tenant, "victim")):
        await fill(server, key, user=user, secret="Ordinary")
    return House(server, url, behind, victim, same_tenant, other_tenant, **held)


@pytest.fixture(scope="module", params=LEDGERS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Place]]:
    """Return what makes an empty place for a ledger of one kind."""
    if request.param == "sqlite":
        yield lambda: tmp_path_factory.mktemp("house")
        return
    server: str = request.getfixturevalue("postgres_url")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMMONPLACE_HOME", str(tmp_path_factory.mktemp("files")))
        yield lambda: new_database(server)


@pytest.fixture(scope="module")
async def house(place: Callable[[], Place]) -> AsyncIterator[House]:
    """One for all tests of a file: nobody changes anything of the victim's, or a test fails."""
    async with built(place()) as house:
        yield house


@pytest.fixture
async def fresh_house(place: Callable[[], Place]) -> AsyncIterator[House]:
    async with built(place()) as house:
        yield house
