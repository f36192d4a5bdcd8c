"""Long-term memory for LLM agents and chat apps. Everything a user may rely on is exported here.

The names are loaded when first used (PEP 562): `import commonplace` itself imports no driver, SDK or framework.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.care.export import Export
    from commonplace.domain.claims import Proposal
    from commonplace.domain.errors import (
        Closed,
        CommonplaceError,
        Conflict,
        EmbedderMismatch,
        EmbedderUnavailable,
        Incompatible,
        IndexUnavailable,
        InvalidInput,
        LedgerCorrupt,
        LedgerTooNew,
        LedgerUnavailable,
        ModelUnavailable,
        NotBuiltYet,
        NotFound,
        Unavailable,
        UnreadableReply,
    )
    from commonplace.domain.receipts import Receipt
    from commonplace.domain.results import Added, Checkup, Context, Page, Profile, Recollection, Stats
    from commonplace.domain.values import Block, Fact, FactChange, FactVersion, Message, Recalled, SessionInfo, Why
    from commonplace.memory import AsyncMemory, AsyncSession
    from commonplace.ports.embedder import Embedder
    from commonplace.sync import Memory, Session

__all__ = [
    "Added",
    "AsyncMemory",
    "AsyncSession",
    "Block",
    "Checkup",
    "Closed",
    "CommonplaceError",
    "Conflict",
    "Context",
    "Embedder",
    "EmbedderMismatch",
    "EmbedderUnavailable",
    "Export",
    "Fact",
    "FactChange",
    "FactVersion",
    "Incompatible",
    "IndexUnavailable",
    "InvalidInput",
    "LedgerCorrupt",
    "LedgerTooNew",
    "LedgerUnavailable",
    "Memory",
    "Message",
    "ModelUnavailable",
    "NotBuiltYet",
    "NotFound",
    "Page",
    "Profile",
    "Proposal",
    "Recalled",
    "Receipt",
    "Recollection",
    "Session",
    "SessionInfo",
    "Stats",
    "Unavailable",
    "UnreadableReply",
    "Why",
]

_MODULES = {
    "commonplace.memory": {"AsyncMemory", "AsyncSession"},
    "commonplace.sync": {"Memory", "Session"},
    "commonplace.ports.embedder": {"Embedder"},
    "commonplace.domain.claims": {"Proposal"},
    "commonplace.care.export": {"Export"},
    "commonplace.domain.receipts": {"Receipt"},
    "commonplace.domain.results": {"Added", "Checkup", "Context", "Page", "Profile", "Recollection", "Stats"},
    "commonplace.domain.values": {
        *("Block", "Fact", "FactChange", "FactVersion", "Message", "Recalled", "SessionInfo", "Why"),
    },
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'commonplace' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "commonplace.domain.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
