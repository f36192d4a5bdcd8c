"""mem0's Memory: each method is AsyncMemory's, run on a loop in the background."""

from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from os import PathLike
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from commonplace.integrations.mem0.memory import AsyncMemory, settings_of
from commonplace.sync.loop import Loop

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Memory", P], T]:
    @wraps(method)
    def call(self: "Memory", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.call(method(self._memory, *args, **kwargs))

    return call


class Memory:
    """mem0's calls on a Commonplace folder or URL. Without one: the folder that the settings name."""

    def __init__(self, location: str | PathLike[str] | None = None, **settings: Any) -> None:
        self._memory = AsyncMemory(location, **settings)
        self._loop = Loop()
        try:
            self._loop.call(self._memory.opened())
        except BaseException:
            self._loop.stop()
            raise

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Take mem0's configuration: the model of its `llm`, and our own settings under `commonplace`."""
        return cls(**settings_of(config_dict))

    def close(self) -> None:
        self._loop.call(self._memory.close())
        self._loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    add = _blocking(AsyncMemory.add)
    search = _blocking(AsyncMemory.search)
    get_all = _blocking(AsyncMemory.get_all)
    get = _blocking(AsyncMemory.get)
    update = _blocking(AsyncMemory.update)
    delete = _blocking(AsyncMemory.delete)
    delete_all = _blocking(AsyncMemory.delete_all)
    history = _blocking(AsyncMemory.history)
    reset = _blocking(AsyncMemory.reset)
