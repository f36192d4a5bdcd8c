"""The capability: any pydantic-ai agent recalls, has the tools, and is recorded; our state alone is written to."""

import asyncio
from dataclasses import dataclass

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from commonplace import AsyncMemory
from commonplace.agents import MemoryCapability
from tests.learning.test_stories import apart


def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    request = messages[-1]
    assert isinstance(request, ModelRequest)
    return ModelResponse(parts=[TextPart(f"INSTRUCTIONS {request.instructions}")])


async def test_an_existing_agent_recalls_in_its_instructions_and_is_recorded() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        await memory.add("I live in Paris", user="u1", session="old")
        agent = Agent(
            FunctionModel(echo),
            instructions="Be kind.",
            capabilities=[MemoryCapability(memory, user="u1", session="s")],
        )
        result = await agent.run("Where do I live?")
        assert "Be kind." in result.output and "Paris" in result.output and "<memory>" in result.output
        page = await memory.messages(session="s", user="u1")
        assert [(one.role, one.text) for one in page] == [("user", "Where do I live?"), ("assistant", result.output)]
        assert [fact.text for fact in await memory.facts(user="u1")] == ["User lives in Paris"]


@dataclass
class Deps:
    user: str


async def test_the_user_is_found_in_the_run_and_the_session_is_its_conversation() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        agent = Agent(
            TestModel(call_tools=[]),
            deps_type=Deps,
            capabilities=[MemoryCapability(memory, user=lambda run: run.deps.user)],
        )
        first = await agent.run("I live in Paris", deps=Deps("ana"))
        await agent.run("I live in Rome", deps=Deps("ben"), conversation_id=first.conversation.conversation_id)
        assert [fact.value for fact in await memory.facts(user="ana")] == ["Paris"]
        assert [fact.value for fact in await memory.facts(user="ben")] == ["Rome"]
        assert len(await memory.messages(session=first.conversation.conversation_id, user="ana")) == 2


async def test_two_runs_at_once_do_not_share_a_state() -> None:
    def note(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("ok")])
        said = str(messages[-1].parts[-1].content)  # type: ignore[union-attr]
        block = ToolCallPart("set_block", {"name": "profile", "text": said})
        return ModelResponse(parts=[block])

    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        agent = Agent(
            FunctionModel(note), deps_type=Deps, capabilities=[MemoryCapability(memory, user=lambda run: run.deps.user)]
        )
        await agent.run("Ana's words", deps=Deps("ana"))
        await agent.run("Ben's words", deps=Deps("ben"))
        assert [block.text for block in await memory.blocks(user="ana")] == ["Ana's words"]
        assert [block.text for block in await memory.blocks(user="ben")] == ["Ben's words"]


async def test_every_tool_can_be_called_with_whatever_a_model_makes_up() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        agent = Agent(TestModel(), capabilities=[MemoryCapability(memory, user="u1")])
        await agent.run("Hello there")
        assert list(await memory.facts(user="u1")) == []


class City(BaseModel):
    name: str


async def test_a_typed_output_is_kept_as_json() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        agent = Agent(
            TestModel(call_tools=[], custom_output_args={"name": "Paris"}),
            output_type=City,
            capabilities=[MemoryCapability(memory, user="u1", session="s")],
        )
        await agent.run("Name a city")
        assert (await memory.messages(session="s", user="u1"))[-1].text == '{"name":"Paris"}'


async def test_without_a_record_nothing_is_written() -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        capability = MemoryCapability(memory, user="u1", record=False)
        await Agent(TestModel(call_tools=[]), capabilities=[capability]).run("I live in Paris")
        assert list(await memory.messages(user="u1")) == []


async def test_a_run_that_fails_keeps_the_users_message_alone() -> None:
    def fail(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ConnectionError("gone")

    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        agent = Agent(FunctionModel(fail), capabilities=[MemoryCapability(memory, user="u1", session="s")])
        with pytest.raises(ConnectionError):
            await agent.run("Hello there")
        assert [one.text for one in await memory.messages(user="u1")] == ["Hello there"]


async def test_a_run_that_fails_before_it_asks_leaves_no_recall_behind() -> None:
    def broken() -> str:
        raise ValueError("no instructions today")

    async with AsyncMemory.ephemeral(embedder=apart) as memory:
        agent = Agent(TestModel(), instructions=broken, capabilities=[MemoryCapability(memory, user="u1", session="s")])
        with pytest.raises(ValueError, match="no instructions today"):
            await agent.run("I live in Paris")
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "commonplace-recall"]
        assert [one.text for one in await memory.messages(session="s", user="u1")] == ["I live in Paris"]
