"""mem0's API on Commonplace: an app moves by changing an import. mem0 itself is not needed.

What mem0 calls a memory is a fact here. docs/integrations-mem0.md lists what differs.
"""

from commonplace.integrations.mem0.blocking import Memory
from commonplace.integrations.mem0.memory import AsyncMemory

__all__ = ["AsyncMemory", "Memory"]
