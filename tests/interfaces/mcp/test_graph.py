"""The tools of the reference memory server: the same names, arguments and results, on this memory."""

from typing import Any

from commonplace.memory import AsyncMemory
from tests.interfaces.mcp.conftest import Connect, refused, told

ANA: dict[str, Any] = {"name": "Ana", "entityType": "person", "observations": ["Speaks Norwegian", "Plays chess"]}
ACME: dict[str, Any] = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "Ana", "to": "Acme", "relationType": "works at"}


async def test_what_is_created_is_read_and_found(connect: Connect) -> None:
    async with connect(user="u1", as_graph=True) as client:
        assert (await told(client, "create_entities", entities=[ANA, ACME]))["entities"] == [ANA, ACME]
        assert (await told(client, "create_relations", relations=[WORKS]))["relations"] == [WORKS]
        assert await told(client, "read_graph") == {"entities": [ANA, ACME], "relations": [WORKS]}
        assert ANA in (await told(client, "search_nodes", query="norweg"))["entities"]
        assert await told(client, "open_nodes", names=["Acme"]) == {"entities": [ACME], "relations": [WORKS]}
        assert (await told(client, "open_nodes", names=["Nobody"]))["entities"] == []


async def test_what_is_there_is_not_created_again(connect: Connect, memory: AsyncMemory) -> None:
    async with connect(user="u1", as_graph=True) as client:
        for _ in range(2):
            await told(client, "create_entities", entities=[ANA, ANA])
            await told(client, "create_relations", relations=[WORKS, WORKS])
        assert (await told(client, "create_entities", entities=[{**ANA, "entityType": "dog"}]))["entities"] == []
        seen = {"entityName": "Ana", "contents": ["Plays chess", "Likes tea"]}
        added = await told(client, "add_observations", observations=[seen])
        assert added["results"] == [{"entityName": "Ana", "addedObservations": ["Likes tea"]}]
    assert len(await memory.facts(user="u1")) == 5


async def test_an_observation_needs_its_entity(connect: Connect, memory: AsyncMemory) -> None:
    async with connect(user="u1", as_graph=True) as client:
        seen = {"entityName": "Nobody", "contents": ["x"]}
        assert "'Nobody'" in await refused(client, "add_observations", observations=[seen])
    assert len(await memory.facts(user="u1")) == 0


async def test_what_is_deleted_is_forgotten(connect: Connect, memory: AsyncMemory) -> None:
    async with connect(user="u1", as_graph=True) as client:
        await told(client, "create_entities", entities=[ANA, ACME])
        await told(client, "create_relations", relations=[WORKS])
        await told(client, "delete_observations", deletions=[{"entityName": "Ana", "observations": ["Plays chess"]}])
        assert (await told(client, "open_nodes", names=["Ana"]))["entities"][0]["observations"] == ["Speaks Norwegian"]
        await told(client, "delete_relations", relations=[WORKS])
        assert (await told(client, "read_graph"))["relations"] == []
        await told(client, "create_relations", relations=[WORKS])
        await told(client, "delete_entities", entityNames=["Ana"])
        assert await told(client, "read_graph") == {"entities": [ACME], "relations": []}
    assert [one.text for one in await memory.facts(user="u1")] == ["Acme is a company"]


async def test_graphs_of_two_users_and_other_facts_do_not_mix(connect: Connect, memory: AsyncMemory) -> None:
    await memory.remember("Speaks Norwegian", user="u2")
    async with connect(as_graph=True) as client:
        await told(client, "create_entities", entities=[ANA], user="u1")
        assert (await told(client, "read_graph", user="u2"))["entities"] == []
    async with connect(user="u2", as_graph=True, may_write=False) as client:
        assert "one user" in await refused(client, "read_graph", user="u1")
        assert "reading only" in await refused(client, "create_entities", entities=[ANA])
