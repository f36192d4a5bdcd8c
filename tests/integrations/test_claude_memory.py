"""Claude's memory tool on blocks. The SDK's own tool, on a file system, says what each command should answer."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import AsyncMemory, Memory
from commonplace.integrations.claude_memory import AsyncMemoryTool, MemoryTool
from tests.agents.wire import Asked, Call, Reply, Say, one_after_another, service
from tests.integrations.examples import Staging

ESCAPES = [
    "/memories/../secret",
    "/memories/a/../../secret",
    "/memories/..",
    "/memories/./x",
    "/memories//x/..//y",
    "/memories/..\\secret",
    "/memories/a\0b",
    "/etc/passwd",
    "/memoriesx/y",
    "memories/x",
    "",
]


def noting(asked: Asked) -> Reply:
    """Note what is told, look it up for a question, and correct it: as Claude would."""
    if asked.results:
        return Say(asked.results[-1])
    if "?" in asked.said:
        return Call("memory", '{"command": "view", "path": "/memories/tools.md"}')
    if "anymore" in asked.said:
        edit = '{"command": "str_replace", "path": "/memories/tools.md", "old_str": " and Magnet", "new_str": ""}'
        return Call("memory", edit)
    return Call("memory", '{"command": "create", "path": "/memories/tools.md", "file_text": "Uses Shram and Magnet"}')


def test_the_story_is_told_over_four_runs_of_the_example(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    with service(noting) as claude:
        ours = {"ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": "none"}
        run = runner("claude_memory.py", {**environment, **ours})
        folder = str(tmp_path / "memory")
        assert "File created" in run(folder, "I use Shram and Magnet as productivity tools")
        assert "Uses Shram and Magnet" in run(folder, "What productivity tools do I use?")
        assert "has been edited" in run(folder, "I don't use Magnet anymore")
        after = run(folder, "What productivity tools do I use?")
        assert "Uses Shram" in after and "Magnet" not in after
        assert claude.asked[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]


async def test_the_async_runner_of_the_sdk_drives_the_async_tool() -> None:
    calls: list[Reply] = [
        Call("memory", '{"command": "create", "path": "/memories/todo/plan.md", "file_text": "Ship it"}'),
        Call("memory", '{"command": "rename", "old_path": "/memories/todo", "new_path": "/memories/done"}'),
        Call("memory", '{"command": "insert", "path": "/memories/done/plan.md", "insert_line": 1, "insert_text": "!"}'),
        Call("memory", '{"command": "delete", "path": "/memories/../x"}'),
        Call("memory", '{"command": "nonsense", "path": 7}'),
        Say("Done."),
    ]
    async with AsyncMemory.ephemeral() as memory:
        with service(one_after_another(calls)) as claude:
            async with AsyncAnthropic(base_url=claude.url, api_key="none") as client:
                runner = client.beta.messages.tool_runner(
                    model="claude-sonnet-5-5",
                    max_tokens=100,
                    messages=[{"role": "user", "content": "Go on"}],
                    tools=[AsyncMemoryTool(memory, user="alex")],
                )
                await runner.until_done()
        assert [(block.name, block.text) for block in await memory.blocks(user="alex")] == [
            ("done/plan.md", "Ship it\n!\n")
        ]
        results = [asked.results[-1] for asked in claude.asked[1:]]
        assert "would escape /memories" in results[3]
        assert [result.count('"is_error": true') for result in results] == [0, 0, 0, 1, 1]
        await AsyncMemoryTool(memory, user="alex").clear_all_memory()
        assert await memory.blocks(user="alex") == []


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_no_path_leads_out(memory: Memory, command: str) -> None:
    tool = MemoryTool(memory, user="careful")
    more = {"file_text": "x", "old_str": "a", "new_str": "b", "insert_line": 0, "insert_text": "x"}
    for path in ESCAPES:
        with pytest.raises(ToolError, match="would escape|must start"):
            tool.call({"command": command, "path": path, "old_path": path, "new_path": "/memories/in", **more})
    assert memory.blocks(user="careful") == []


def test_a_user_sees_their_own_notes_and_their_blocks_are_files(memory: Memory) -> None:
    memory.set_block("profile", "Alex, 41", user="alex")
    tool = MemoryTool(memory, user="alex")
    assert "/memories/profile" in str(tool.call({"command": "view", "path": "/memories"}))
    with pytest.raises(ToolError, match="does not exist"):
        MemoryTool(memory, user="ben").call({"command": "view", "path": "/memories/profile"})
    tool.call({"command": "create", "path": "/memories/likes", "file_text": "Likes tea"})
    assert "Likes tea" in str(memory.context("hello", user="alex"))


def test_an_empty_file_and_one_that_is_too_large_are_refused(memory: Memory) -> None:
    tool = MemoryTool(memory, user="alex")
    with pytest.raises(ToolError, match="would be empty"):
        tool.call({"command": "create", "path": "/memories/empty", "file_text": " "})
    with pytest.raises(ToolError, match="expected at most"):
        tool.call({"command": "create", "path": "/memories/huge", "file_text": "x" * 8_000_001})


paths = st.sampled_from(
    ["/memories/a", "/memories/b.md", "/memories/d", "/memories/d/e", "/memories/d/e/f", "/memories"]
)
texts = st.sampled_from(["one\ntwo\nthree\n", "two two", "x", "été\n\n日本", "y" * 2_000])
commands = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": paths, "file_text": texts}),
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": paths, "view_range": st.sampled_from([None, [1, 2], [2, -1], [9, 9]])}
    ),
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": paths, "old_str": st.sampled_from(["two", "one\n", "x", "no"])}
        | {"new_str": st.sampled_from(["2\n2", "z"])}
    ),
    st.fixed_dictionaries({"command": st.just("insert"), "path": paths, "insert_text": texts}).flatmap(
        lambda one: st.integers(-1, 4).map(lambda line: {**one, "insert_line": line})
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": paths}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": paths, "new_path": paths}),
)


def answer_of(tool: BetaAbstractMemoryTool, command: dict[str, Any]) -> str:
    try:
        told = str(tool.call(command))
    except (ToolError, OSError) as error:
        # for a name that is taken, or a folder that is none, a file system has other words
        return str(error) if command["command"] in ("view", "str_replace", "insert") else "refused"
    return re.sub(r"^\S+\t(/memories(/d(/e)?)?)/?$", r"\1", told, flags=re.MULTILINE)  # sizes of folders differ


def prune(folder: Path) -> None:
    """Remove folders with nothing in them: we have no such thing."""
    for inner in sorted(folder.glob("memories/**/"), reverse=True):
        if inner.name != "memories" and not any(inner.iterdir()):
            inner.rmdir()


@settings(max_examples=30)
@given(st.lists(commands, min_size=3, max_size=12))
def test_each_command_answers_as_the_tool_of_the_sdk_does(memory: Memory, script: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        theirs, ours = BetaLocalFilesystemMemoryTool(folder), MemoryTool(memory, user="oracle")
        ours.clear_all_memory()
        for command in script:
            assert answer_of(ours, command) == answer_of(theirs, command), command
            prune(Path(folder))
