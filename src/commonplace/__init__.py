"""Long-term memory for LLM agents and chat apps. Everything a user may rely on is exported here.

The names are loaded when they are first used (PEP 562): `import commonplace` itself imports no driver, SDK or framework.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.domain.errors import CommonplaceError as CommonplaceError

_HOME = {"CommonplaceError": "commonplace.domain.errors"}

__all__ = ["CommonplaceError"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'commonplace' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
