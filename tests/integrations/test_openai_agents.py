"""The OpenAI Agents SDK's Session on ours: its real runner, its scripted model, and its SQLite session beside it."""

from pathlib import Path
from typing import Any

from agents import Agent, RunConfig, Runner, SessionSettings, SQLiteSession, function_tool
from agents.memory import Session
from agents.testing import ScriptedModel, assistant_message, function_call

from commonplace import Memory
from commonplace.integrations.openai_agents import MemorySession
from tests.agents.wire import service
from tests.integrations.examples import Staging

QUIET = RunConfig(tracing_disabled=True)


def test_the_story_is_told_over_four_runs_of_the_example(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    with service() as model:
        ours = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
        run = runner("openai_agents_session.py", {**environment, **ours})
        folder = str(tmp_path / "memory")
        run(folder, "monday", "I use Shram and Magnet as productivity tools")
        assert run(folder, "tuesday", "What productivity tools do I use?") == "You use Shram and Magnet.\n"
        run(folder, "wednesday", "I don't use Magnet anymore")
        assert run(folder, "friday", "What productivity tools do I use?") == "You use Shram.\n"


async def test_the_runner_goes_on_with_a_conversation_tools_included(memory: Memory) -> None:
    @function_tool
    def weather(city: str) -> str:
        """Say how the weather is."""
        return f"Rain in {city}."

    model = ScriptedModel(
        [
            {"output": [function_call("weather", {"city": "Oslo"}, call_id="c1")]},
            {"output": [assistant_message("It rains.")]},
            {"output": [assistant_message("You are welcome.")]},
        ]
    )
    agent = Agent(name="A", model=model, tools=[weather])
    session = MemorySession("s1", memory, user="alex")
    assert isinstance(session, Session)
    await Runner.run(agent, "I live in Oslo. How is the weather?", session=session, run_config=QUIET)
    await Runner.run(agent, "Thanks", session=MemorySession("s1", memory, user="alex"), run_config=QUIET)
    asked = model.calls[-1].input
    assert isinstance(asked, list)
    assert [one.get("type", one.get("role")) for one in asked] == [
        *("user", "function_call", "function_call_output", "message", "user"),
    ]
    assert [fact.text for fact in memory.facts(user="alex")] == ["User lives in Oslo"]


async def test_items_come_back_as_those_of_the_sqlite_session_do(memory: Memory) -> None:
    items: list[Any] = [
        {"role": "user", "content": "Hello"},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "été 日本"}, {"type": "input_image", "image_url": "x"}],
        },
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "seen"},
        {"type": "reasoning", "id": "r1", "summary": []},
        {"role": "assistant", "content": ""},
    ]
    ours, theirs = MemorySession("s2", memory, user="ben"), SQLiteSession("s2")
    for session in (ours, theirs):
        await session.add_items(items[:4])
        await session.add_items(items[4:])
        await session.add_items([])
    for limit in (None, 1, 3, 100):
        assert await ours.get_items(limit) == await theirs.get_items(limit)
    assert await ours.pop_item() == await theirs.pop_item() == items[-1]
    assert await ours.get_items() == await theirs.get_items() == items[:-1]
    for session in (ours, theirs):
        await session.clear_session()
        await session.clear_session()
        assert await session.pop_item() is None
        assert await session.get_items() == []
    theirs.close()
    few = MemorySession("s2", memory, user="ben", session_settings=SessionSettings(limit=1))
    await few.add_items(items[:3])
    assert await few.get_items() == [items[2]]


async def test_another_user_has_another_conversation_of_the_same_name(memory: Memory) -> None:
    await MemorySession("s3", memory, user="ann").add_items([{"role": "user", "content": "I live in Paris"}])
    memory.add({"role": "assistant", "content": "By other means"}, user="ann", session="s3")
    assert await MemorySession("s3", memory, user="bob").get_items() == []
    items = await MemorySession("s3", memory, user="ann").get_items()
    assert items[1] == {"role": "assistant", "content": "By other means"}


async def test_what_is_cleared_is_forgotten_with_what_it_taught(memory: Memory) -> None:
    session = MemorySession("s4", memory, user="cleo")
    await session.add_items([{"role": "user", "content": "I live in Rome"}])
    assert len(memory.facts(user="cleo")) == 1
    await session.clear_session()
    assert len(memory.facts(user="cleo")) == 0
