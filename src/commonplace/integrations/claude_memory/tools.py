"""The tools to give to `client.beta.messages.tool_runner(…)`: they read the blocks, decide in `files`, and write.

Each command reads all blocks first. Of two that change the same file at the same moment, the later one wins.
"""

from typing import assert_never

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from commonplace.domain.errors import InvalidInput
from commonplace.integrations.claude_memory import files
from commonplace.integrations.claude_memory.files import Files, Outcome, Refused
from commonplace.memory import AsyncMemory
from commonplace.sync import Memory

Command = BetaMemoryTool20250818Command


def decide(known: Files, command: Command) -> Outcome:
    """Return what a command does to the files. Raises ToolError with what the model should know."""
    try:
        match command:
            case BetaMemoryTool20250818ViewCommand():
                return files.view(known, command.path, command.view_range)
            case BetaMemoryTool20250818CreateCommand():
                return files.create(known, command.path, command.file_text)
            case BetaMemoryTool20250818StrReplaceCommand():
                return files.str_replace(known, command.path, command.old_str, command.new_str)
            case BetaMemoryTool20250818InsertCommand():
                return files.insert(known, command.path, command.insert_line, command.insert_text)
            case BetaMemoryTool20250818DeleteCommand():
                return files.delete(known, command.path)
            case BetaMemoryTool20250818RenameCommand():
                return files.rename(known, command.old_path, command.new_path)
            case _:
                assert_never(command)
    except Refused as error:
        raise ToolError(str(error)) from error


class MemoryTool(BetaAbstractMemoryTool):
    """Claude's notes on one user, in blocks."""

    def __init__(
        self, memory: Memory, *, user: str | None = None, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory, self._user = memory, user

    def execute(self, command: Command) -> str:
        known = {block.name: block.text for block in self._memory.blocks(user=self._user)}
        outcome = decide(known, command)
        try:
            for name, text in outcome.written.items():
                self._memory.set_block(name, text, user=self._user)
        except InvalidInput as error:
            raise ToolError(str(error)) from error
        for name in outcome.removed:
            self._memory.delete_block(name, user=self._user)
        return outcome.answer

    def clear_all_memory(self) -> str:
        for block in self._memory.blocks(user=self._user):
            self._memory.delete_block(block.name, user=self._user)
        return "All memory cleared"

    view = create = str_replace = insert = delete = rename = execute


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """Claude's notes on one user, in blocks; for the async client."""

    def __init__(
        self,
        memory: AsyncMemory,
        *,
        user: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory, self._user = memory, user

    async def execute(self, command: Command) -> str:
        known = {block.name: block.text for block in await self._memory.blocks(user=self._user)}
        outcome = decide(known, command)
        try:
            for name, text in outcome.written.items():
                await self._memory.set_block(name, text, user=self._user)
        except InvalidInput as error:
            raise ToolError(str(error)) from error
        for name in outcome.removed:
            await self._memory.delete_block(name, user=self._user)
        return outcome.answer

    async def clear_all_memory(self) -> str:
        for block in await self._memory.blocks(user=self._user):
            await self._memory.delete_block(block.name, user=self._user)
        return "All memory cleared"

    view = create = str_replace = insert = delete = rename = execute
