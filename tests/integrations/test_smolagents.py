"""Tools for smolagents, run by its real agents with a scripted model."""

from pathlib import Path
from typing import Any

from smolagents import ChatMessage, CodeAgent, LogLevel, MessageRole, Model

from commonplace import Memory
from commonplace.integrations.smolagents import AddMemory, ForgetMemory, SearchMemory, memory_tools
from tests.integrations.examples import Staging

TOOLS, ASKED = "I use Shram and Magnet as productivity tools", "What productivity tools do I use?"


def test_the_example_is_told_asked_and_corrected_in_two_processes(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("smolagents_memory.py", environment)
    folder = str(tmp_path / "memory")
    assert run(folder, TOOLS).count("learned: ") == 2
    before, after = run(folder, ASKED, "I don't use Magnet anymore", ASKED).split("Kept.")
    assert "User uses Shram" in before and "User uses Magnet" in before
    assert "ended: User uses Magnet" in after
    found = after.splitlines()[2:]
    assert "User uses Shram" in found[0]
    assert all("no longer" in line or "anymore" in line for line in found if "Magnet" in line)


class Coding(Model):  # type: ignore[misc]
    def __init__(self, *code: str) -> None:
        super().__init__()
        self.code = list(code)

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: go\n<code>\n{self.code.pop(0)}\n</code>")


def test_an_agent_that_writes_code_calls_the_tools(memory: Memory) -> None:
    model = Coding("add_memory(said='I live in Oslo')", "final_answer(search_memory(query='Where do I live?'))")
    agent = CodeAgent(tools=memory_tools(memory, user="alex"), model=model, verbosity_level=LogLevel.OFF)
    assert "User lives in Oslo" in str(agent.run("I live in Oslo. Where do I live?"))
    assert SearchMemory(memory, "ben")(query="Where do I live?") == "Nothing relevant is remembered."


def test_only_what_is_named_is_forgotten(memory: Memory) -> None:
    add, forget = AddMemory(memory, "cleo", "s1"), ForgetMemory(memory, "cleo")
    add(said="I live in Rome")
    (fact,) = memory.facts(user="cleo")
    (message,) = memory.messages(user="cleo", session="s1")
    for nothing in (None, "", " ", "unknown", 7):
        assert "Nothing is erased" in forget(id=nothing)
    assert "Nothing is erased" in ForgetMemory(memory, "ben")(id=fact.id)
    assert [one.text for one in memory.facts(user="cleo")] == ["User lives in Rome"]
    assert forget(id=fact.id) == "Erased."
    assert list(memory.facts(user="cleo")) == []
    assert forget(id=message.id) == "Erased."
    assert list(memory.messages(user="cleo")) == []
    assert add(said=" ").startswith("Not kept: ")
