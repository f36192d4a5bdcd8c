"""Memory in a conversation: retrieve, run the agent on a typed state, write after the run.

The names are loaded when first used: an interaction with a bare SDK needs no pydantic-ai, and no model needs neither.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.agents.assistant import Assistant
    from commonplace.agents.capability import MemoryCapability
    from commonplace.agents.conversations import MemoryConversationStore
    from commonplace.agents.interactions import AsyncInteractions, Interactions, Response
    from commonplace.agents.notebook import Notebook
    from commonplace.agents.state import MemoryState, MemoryUpdate
    from commonplace.agents.turns import Ended, Event, Remembered, Turn, Used, Words

__all__ = [
    "Assistant",
    "AsyncInteractions",
    "Ended",
    "Event",
    "Interactions",
    "MemoryCapability",
    "MemoryConversationStore",
    "MemoryState",
    "MemoryUpdate",
    "Notebook",
    "Remembered",
    "Response",
    "Turn",
    "Used",
    "Words",
]

_MODULES = {
    "assistant": {"Assistant"},
    "capability": {"MemoryCapability"},
    "conversations": {"MemoryConversationStore"},
    "interactions": {"AsyncInteractions", "Interactions", "Response"},
    "notebook": {"Notebook"},
    "state": {"MemoryState", "MemoryUpdate"},
    "turns": {"Ended", "Event", "Remembered", "Turn", "Used", "Words"},
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'commonplace.agents' has no attribute {name!r}")
    return getattr(import_module(f"commonplace.agents.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
