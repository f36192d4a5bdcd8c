"""Ways to reach another user's or tenant's memory with the tools, resources and prompts of MCP. None works."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.isolation.conftest import SECRET, House, everything_of, with_ids

pytestmark = pytest.mark.backends("pairwise")

Try = tuple[str, dict[str, Any]]
"""A method of the protocol, and its parameters."""
QUERY = f"{SECRET} code dog street"
PROTOCOL = {"Accept": "application/json, text/event-stream"}


def call(tool: str, **arguments: Any) -> Try:
    return "tools/call", {"name": tool, "arguments": arguments}


def read(address: str) -> Try:
    return "resources/read", {"uri": address}


SHOWN: Sequence[Try] = [
    call("search_memory", query=QUERY, user="victim"),
    call("search_memory", query=QUERY, session="s1"),
    call("search_memory", query="", limit=100),
    call("search_memory", query=QUERY, user="*"),
    call("search_memory", query=QUERY, user=None),
    call("search_memory", query=QUERY, user=["victim"]),
    call("search_memory", query=QUERY, user={"$ne": None}),
    call("search_memory", query=QUERY, user='"victim"'),
    call("search_memory", query=QUERY, user="victim\0"),
    call("search_memory", query=QUERY, user="acme/victim"),
    call("search_memory", query=QUERY, tenant="acme"),
    call("search_memory", query=QUERY, where={"user": "victim"}),
    call("list_memories", user="victim"),
    call("list_memories", cursor="{facts_cursor}"),
    call("list_memories", cursor="{cursor}"),
    call("get_context", query=QUERY, user="victim"),
    call("get_context", query=QUERY, session="s1", budget=100_000),
    call("export", user="victim"),
    ("tools/call", {"name": "list_memories", "arguments": {}, "_meta": {"user": "victim", "tenant": "acme"}}),
    ("tools/call", {"name": "list_memories", "arguments": {}, "user": "victim", "tenant": "acme"}),
    read("commonplace://users/victim/profile"),
    read("commonplace://users/victim/blocks"),
    read("commonplace://users/victim/blocks/profile"),
    read("commonplace://users/..%2Fvictim/blocks"),
    read("commonplace://users/intruder/../victim/blocks"),
    read("commonplace://blocks/..%2Fusers%2Fvictim%2Fblocks%2Fprofile"),
    read("commonplace://blocks/profile?user=victim"),
    read("commonplace://profile?user=victim"),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/get", {"name": "recall", "arguments": {"query": QUERY, "user": "victim"}}),
]
CHANGES: Sequence[Try] = [
    call("add_memories", text="I live in Planted", user="victim"),
    call("add_memories", messages=[{"content": "I live in Planted", "id": "{message}"}], session="s1"),
    call("update_memory", id="{fact}", text="Planted"),
    call("update_memory", id="{fact}", text="Planted", user="victim"),
    call("delete_memories", ids=["{fact}"]),
    call("delete_memories", ids=["{message}"]),
    call("delete_memories", ids=["{fact}", "{message}"], user="victim"),
    call("set_block", name="profile", text="Planted"),
    call("set_block", name="profile", text="Planted", user="victim"),
]


async def ask(house: House, key: dict[str, str], trial: Try) -> str:
    method, params = trial
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": with_ids(house, params)}
    answer = await house.ask("POST", "/mcp", key, json=asked, headers=PROTOCOL)
    assert answer.status_code < 500
    return answer.text


def named(trial: Try) -> str:
    return f"{trial[0]} {json.dumps(trial[1])}"[:90]


async def test_no_request_shows_what_another_user_holds(open_house: House) -> None:
    wrong: list[tuple[str, str]] = []
    for trial in SHOWN:
        for key in open_house.strangers:
            shown = await ask(open_house, key, trial)
            if SECRET in shown.replace(QUERY, ""):
                wrong.append((named(trial), shown))
    assert wrong == []


async def test_no_request_changes_what_another_user_holds(open_house: House) -> None:
    before = await everything_of(open_house)
    for trial in CHANGES:
        for key in open_house.strangers:
            await ask(open_house, key, trial)
    assert await everything_of(open_house) == before


async def test_the_victim_is_not_locked_out(open_house: House) -> None:
    assert SECRET in await ask(open_house, open_house.victim, call("list_memories", user="victim"))
    assert SECRET in await ask(open_house, open_house.victim, read("commonplace://blocks/profile"))


async def test_an_idempotency_key_of_another_does_not_give_their_answer(open_house: House) -> None:
    again, trial = {"Idempotency-Key": "k-mcp"}, call("list_memories")
    assert SECRET in await ask(open_house, open_house.victim | again, trial)
    for key in (open_house.same_tenant, open_house.other_tenant):
        assert SECRET not in await ask(open_house, key | again, trial)
