"""Memory: the same methods as AsyncMemory for code that has no event loop.

Nothing is implemented here. Each call runs on a private event loop in a background thread that lives as long as the
memory is open; a test compares the two signatures, so that they cannot drift.
"""

from commonplace.sync.memory import Memory
from commonplace.sync.session import Session

__all__ = ["Memory", "Session"]
