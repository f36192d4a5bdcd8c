"""mem0's Memory: each method is AsyncMemory's, run on a loop in the background."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

from commonplace.integrations.mem0.memory import AsyncMemory, settings_of
from commonplace.sync.face import Face, blocking


class Memory(Face[AsyncMemory]):
    """mem0's calls on a Commonplace folder or URL. Without one: the folder that the settings name."""

    def __init__(self, location: str | PathLike[str] | None = None, **settings: Any) -> None:
        super().__init__(AsyncMemory(location, **settings), opening=AsyncMemory.opened, closing=AsyncMemory.close)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Take mem0's configuration: the model of its `llm`, and our own settings under `commonplace`."""
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
