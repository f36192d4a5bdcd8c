"""Where snapshots are kept: a folder, a bucket. It knows names and bytes, and nothing of what they mean."""

from collections.abc import Sequence
from typing import Protocol


class SnapshotStore(Protocol):
    """Names are paths with `/`, of `[A-Za-z0-9._-]`. Every method raises StoreUnavailable when it cannot be done."""

    @property
    def place(self) -> str:
        """Where it is, without secrets: what it was opened with."""
        ...

    async def put(self, name: str, data: bytes) -> None:
        """Write an object whole: nobody ever sees a part of it. One of that name is replaced."""
        ...

    async def get(self, name: str) -> bytes:
        """Return an object. Raises NotFound."""
        ...

    async def names(self, prefix: str) -> Sequence[str]:
        """Return the names that begin with a folder like `snapshots/`, in order; none when it is not there."""
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Remove objects; those that are not there are no error."""
        ...


class Seal(Protocol):
    """Keeps what is in a snapshot from whoever has no key. The salt is new for each snapshot."""

    def begin(self, salt: bytes) -> "Sealer": ...


class Sealer(Protocol):
    def close(self, data: bytes, *, place: str) -> bytes:
        """Encrypt. `place` says where it belongs: it opens nowhere else."""
        ...

    def open(self, data: bytes, *, place: str) -> bytes:
        """Decrypt. Raises InvalidInput for a wrong key, or data that was changed."""
        ...
