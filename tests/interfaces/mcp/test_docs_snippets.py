"""What the page tells people to paste into their clients starts a server that answers."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.interfaces.mcp.test_transports import COMMAND, surroundings
from tests.test_docs import PARSERS, ROOT, blocks

__all__ = ["surroundings"]
PAGE = ROOT / "docs" / "mcp.md"


def commands(value: Any) -> Iterator[list[str]]:
    """Yield every command line in a configuration, however the client wants it written."""
    if not isinstance(value, dict):
        return
    if command := value.get("command") or value.get("cmd"):
        yield [*(command if isinstance(command, list) else [command]), *value.get("args", [])]
    for inner in value.values():
        yield from commands(inner)


def snippets(page: Path) -> list[Any]:
    return [PARSERS[block.language](block.code) for block in blocks(page) if block.language in PARSERS]


async def test_every_snippet_starts_a_server_that_answers(surroundings: dict[str, str]) -> None:
    found = [command for snippet in snippets(PAGE) for command in commands(snippet)]
    assert len(found) >= 6
    distinct = {shlex.join(command) for command in found}
    for line in distinct:
        program, *arguments = shlex.split(line)
        assert [program, arguments[0]] == ["commonplace", "mcp"]
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *arguments[1:]], env=surroundings)
        async with Client(server) as client:
            assert (await client.list_tools()).tools


@pytest.mark.parametrize("path", ["profile", "blocks", "blocks/{name}"])
def test_the_page_names_every_resource(path: str) -> None:
    assert f"commonplace://{path}" in PAGE.read_text()
