"""Where the bytes of attachments are kept, and the rows of the ledger that say whose they are.

Each user has a namespace of their own, so equal files of two users are two files: nobody can tell by an id, a size or a
time what somebody else has kept.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from commonplace.domain.scope import Scope
from commonplace.domain.values import Attachment, AttachmentId


class Kept(NamedTuple):
    size: int
    """As it is stored: larger than the file, where it is encrypted."""
    at: datetime
    """When it was last put there."""


class Incoming(Protocol):
    """A file that is being written. Nobody sees it before `keep`. Every method raises StoreUnavailable."""

    async def write(self, data: bytes) -> None: ...

    async def keep(self, id_: AttachmentId) -> None:
        """Give it its name, durable on return. One of that name is replaced."""
        ...

    async def abandon(self) -> None:
        """Leave nothing of it. After `keep` there is nothing to leave."""
        ...


class AttachmentStore(Protocol):
    """Namespaces are `a/b`, of `[a-z0-9]`. Every method raises StoreUnavailable when it cannot be done."""

    @property
    def place(self) -> str:
        """Where it is, without secrets."""
        ...

    async def begin(self, namespace: str) -> Incoming: ...

    def read(self, namespace: str, id_: AttachmentId) -> AsyncGenerator[bytes, None]:
        """Yield a file piece by piece. Raises NotFound, before the first piece."""
        ...

    async def files(self, namespace: str) -> Mapping[AttachmentId, Kept]:
        """Return every file of a namespace, whole ones only."""
        ...

    async def namespaces(self, under: str) -> Sequence[str]:
        """Return the namespaces that begin with `under/` and hold anything."""
        ...

    async def delete(self, namespace: str, ids: Sequence[AttachmentId]) -> None:
        """Overwrite files and remove them; those that are not there are no error."""
        ...

    async def clear(self, namespace: str) -> None:
        """Do so with all of a namespace, what was never finished included."""
        ...


class AttachmentRows(Protocol):
    """The part of a ledger that knows which message carries what. They come and go with their messages."""

    async def attachments(
        self, scope: Scope, ids: Sequence[AttachmentId] | None = None
    ) -> Mapping[AttachmentId, Attachment]:
        """Return what a user's messages carry, all of it or these, without text and caption; each id once."""
        ...
