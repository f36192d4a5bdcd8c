"""A blocking face for an object whose methods are coroutines: each runs on a loop in the background."""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from commonplace.sync.loop import Loop

A = TypeVar("A")
P = ParamSpec("P")
T = TypeVar("T")


class Face(Generic[A]):
    """Open it with the object, and with what the object does first and last."""

    def __init__(
        self,
        inner: A,
        *,
        opening: Callable[[A], Coroutine[Any, Any, object]],
        closing: Callable[[A], Coroutine[Any, Any, object]],
    ) -> None:
        self._inner, self._closing, self._loop = inner, closing, Loop()
        try:
            self._loop.call(opening(inner))
        except BaseException:
            self._loop.stop()
            raise
        self._loop.serve(self, partial(closing, inner))

    def close(self) -> None:
        self._loop.call(self._closing(self._inner))
        self._loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def blocking(method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Face[A], P], T]:
    """Return the method for a face of the object."""

    @wraps(method)
    def call(self: Face[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.call(method(self._inner, *args, **kwargs))

    return call
