"""Microsoft Agent Framework: its real agent, with a chat client that is scripted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool

from commonplace import Memory
from commonplace.integrations.agent_framework import MemoryContextProvider, MemoryHistoryProvider
from tests.integrations.examples import Staging

TOOLS, ASKED = "I use Shram and Magnet as productivity tools", "What productivity tools do I use?"


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Gives the replies in their order, and keeps what it was asked."""

    def __init__(self, *replies: Content | str | Exception) -> None:
        super().__init__()
        self.replies = list(replies)
        self.asked: list[tuple[str, list[Message]]] = []

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> ChatResponse:
        self.asked.append((str(options.get("instructions")), list(messages)))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return ChatResponse(messages=[Message("assistant", [reply])])


def test_the_example_is_told_asked_and_corrected_in_two_processes(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("agent_framework_memory.py", environment)
    folder = str(tmp_path / "memory")
    assert run(folder, TOOLS) == "Noted.\n"
    before, _, after = run(folder, ASKED, "I don't use Magnet anymore", ASKED).splitlines()
    assert "Shram" in before and "Magnet" in before
    assert "Shram" in after and "Magnet" not in after


async def test_an_agent_knows_its_user_in_another_conversation(memory: Memory) -> None:
    model = Scripted("Nice.", "Oslo.", "Who are you?")
    agent = Agent(model, context_providers=[MemoryContextProvider(memory, user="alex")])
    await agent.run("I live in Oslo", session=agent.create_session(session_id="monday"))
    await agent.run("Where do I live?", session=agent.create_session(session_id="friday"))
    assert "User lives in Oslo" in model.asked[1][0]
    assert [(one.session, one.role, one.text) for one in memory.messages(user="alex", session="monday")] == [
        ("monday", "user", "I live in Oslo"),
        ("monday", "assistant", "Nice."),
    ]
    await Agent(model, context_providers=[MemoryContextProvider(memory, user="ben")]).run("Where do I live?")
    assert model.asked[2][0] == "None"
    assert len(memory.messages(user="ben")) == 2


async def test_a_history_comes_back_as_it_was_tools_included(memory: Memory) -> None:
    @tool(approval_mode="never_require")
    def weather(city: str) -> str:
        """Say how the weather is."""
        return f"Rain in {city}."

    call = Content.from_function_call("c1", "weather", arguments={"city": "Oslo"})
    model = Scripted(call, "It rains.", "You are welcome.")
    providers = [
        MemoryHistoryProvider(memory, user="cleo"),
        MemoryContextProvider(memory, user="cleo", keep=False),
    ]
    agent = Agent(model, tools=[weather], context_providers=providers)
    await agent.run("I live in Oslo. How is the weather?", session=agent.create_session(session_id="s1"))
    again = Agent(model, tools=[weather], context_providers=[MemoryHistoryProvider(memory, user="cleo")])
    await again.run("Thanks", session=again.create_session(session_id="s1"))
    asked = model.asked[-1][1]
    assert [message.role for message in asked] == ["user", "assistant", "tool", "assistant", "user"]
    assert (asked[1].contents[0].name, asked[2].contents[0].result) == ("weather", "Rain in Oslo.")
    assert [fact.text for fact in memory.facts(user="cleo")] == ["User lives in Oslo"]
    assert len(memory.messages(user="cleo")) == 6  # each once


async def test_a_run_that_fails_is_not_kept(memory: Memory) -> None:
    agent = Agent(Scripted(RuntimeError("no")), context_providers=[MemoryContextProvider(memory, user="dan")])
    with pytest.raises(RuntimeError):
        await agent.run("I live in Rome")
    assert list(memory.messages(user="dan")) == []


async def test_what_was_added_by_other_means_is_part_of_the_history(memory: Memory) -> None:
    memory.add([{"role": "user", "content": "Hello"}, {"role": "tool", "content": "42"}], user="eve", session="s1")
    history = await MemoryHistoryProvider(memory, user="eve").get_messages("s1")
    assert [(message.role, message.text) for message in history] == [("user", "Hello"), ("assistant", "42")]
