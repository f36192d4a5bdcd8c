"""The reference memory server as the oracle: the same calls, made up at random, and the same graph after each of them.

What is different on purpose: this server keeps what is told twice in one call once, and `search_nodes` also finds what
matters for a question, so it may return more.
"""

import random
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.interfaces.mcp.conftest import Connect, refused, told

BIN = Path(sys.executable).parent
SERVER = BIN.parent / "mcp-reference" / "node_modules" / ".bin" / "mcp-server-memory"
STEPS = 80
TWICE = ["entities", "observe", "read"]
NAMES = ["Ana", "ana", "Ana: plays", "Acme", "Oslo is a town", "東京"]
TYPES = ["person", "town", "town is a place", "会社"]
SAID = ["plays chess", "chess", "plays: chess", "Likes TEA", "Mag Tee nicht", "好きな色は青"]
LINKS = ["knows", "works at", "knows Acme"]
QUERIES = ["ana", "TEA", "chess", "town", "青", "zzz"]


class Calls:
    """Calls made up at random, of few names, so that they meet."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def some(self, of: list[str], most: int = 3) -> list[str]:
        return self._chance.sample(of, self._chance.randint(0, most))

    def one(self, of: list[str]) -> str:
        return self._chance.choice(of)

    def next(self) -> tuple[str, dict[str, Any]]:
        match self._chance.choice(
            ["entities", "entities", "relations", "observe", "observe", "forget", "read", "read"]
        ):
            case "entities":
                entities = [
                    {"name": name, "entityType": self.one(TYPES), "observations": self.some(SAID)}
                    for name in self.some(NAMES)
                ]
                return "create_entities", {"entities": entities}
            case "relations":
                return "create_relations", {"relations": self._relations()}
            case "observe":
                seen = [{"entityName": name, "contents": self.some(SAID)} for name in self.some(NAMES, 2)]
                return "add_observations", {"observations": seen}
            case "forget":
                return self._forgetting()
        return self._reading()

    def _relations(self) -> list[dict[str, str]]:
        made = {(self.one(NAMES), self.one(NAMES), self.one(LINKS)) for _ in range(self._chance.randint(0, 3))}
        return [{"from": one, "to": other, "relationType": how} for one, other, how in sorted(made)]

    def _forgetting(self) -> tuple[str, dict[str, Any]]:
        match self._chance.choice(["entities", "observations", "relations"]):
            case "entities":
                return "delete_entities", {"entityNames": self.some(NAMES, 2)}
            case "observations":
                gone = [{"entityName": name, "observations": self.some(SAID)} for name in self.some(NAMES, 2)]
                return "delete_observations", {"deletions": gone}
        return "delete_relations", {"relations": self._relations()}

    def _reading(self) -> tuple[str, dict[str, Any]]:
        match self._chance.choice(["graph", "open", "search"]):
            case "open":
                return "open_nodes", {"names": self.some(NAMES)}
            case "search":
                return "search_nodes", {"query": self.one(QUERIES)}
        return "read_graph", {}


@asynccontextmanager
async def reference(folder: Path) -> AsyncIterator[Client]:
    node = shutil.which("node", path=str(BIN))
    if node is None or not SERVER.exists():
        pytest.skip("needs the reference memory server: make servers")
    started = StdioServerParameters(
        command=node, args=[str(SERVER)], env={"MEMORY_FILE_PATH": str(folder / "graph.jsonl"), "PATH": str(BIN)}
    )
    async with Client(stdio_client(started)) as client:
        yield client


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_same_calls_make_the_same_graph(connect: Connect, tmp_path: Path, seed: int) -> None:
    calls = Calls(seed)
    async with reference(tmp_path) as theirs, connect(user="u1", as_graph=True) as ours:
        for _ in range(STEPS):
            tool, given = calls.next()
            answer = await theirs.call_tool(tool, given)
            if answer.is_error:
                await refused(ours, tool, **given)
                continue
            expected, found = answer.structured_content or {}, await told(ours, tool, **given)
            if tool == "search_nodes":
                found = within(found, expected)
            assert found == expected, (tool, given)
            assert await told(ours, "read_graph") == await told(theirs, "read_graph"), (tool, given)


def within(found: Any, expected: Any) -> dict[str, Any]:
    """Return what was found without what the oracle does not look for."""
    names = {one["name"] for one in expected["entities"]}
    return {
        "entities": [one for one in found["entities"] if one["name"] in names],
        "relations": [one for one in found["relations"] if one["from"] in names or one["to"] in names],
    }


async def test_the_tools_have_the_same_names_and_arguments(connect: Connect, tmp_path: Path) -> None:
    async with reference(tmp_path) as theirs, connect(user="u1", as_graph=True) as ours:
        arguments = [
            {one.name: set(one.input_schema["properties"]) - {"user"} for one in (await client.list_tools()).tools}
            for client in (theirs, ours)
        ]
        assert arguments[0] == arguments[1]
