"""mem0's API on Commonplace: an app moves by changing an import. mem0 itself is not needed.

What mem0 calls a memory is a fact here. docs/integrations-mem0.md lists what differs.
"""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

from commonplace.integrations.mem0.memory import AsyncMemory, settings_of
from commonplace.sync.face import Face, blocking

__all__ = ["AsyncMemory", "Memory"]


class Memory(Face[AsyncMemory]):
    """AsyncMemory for code that has no event loop: each method runs on one in the background."""

    def __init__(self, location: str | PathLike[str] | None = None, **settings: Any) -> None:
        super().__init__(AsyncMemory(location, **settings), opening=AsyncMemory.opened, closing=AsyncMemory.close)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        return cls(**settings_of(config_dict))

    add = blocking(AsyncMemory.add)
    search = blocking(AsyncMemory.search)
    get_all = blocking(AsyncMemory.get_all)
    get = blocking(AsyncMemory.get)
    update = blocking(AsyncMemory.update)
    delete = blocking(AsyncMemory.delete)
    delete_all = blocking(AsyncMemory.delete_all)
    history = blocking(AsyncMemory.history)
    reset = blocking(AsyncMemory.reset)
