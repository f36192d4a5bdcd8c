"""Claude's memory tool (`memory_20250818`) on blocks: what Claude notes is in every prompt of this user from then on.

`/memories/profile` is the block `profile`. No path on a disk is ever made of what the model writes.
"""

from commonplace.integrations.extras import needing

with needing("anthropic"):
    from commonplace.integrations.claude_memory.tools import AsyncMemoryTool, MemoryTool

__all__ = ["AsyncMemoryTool", "MemoryTool"]
