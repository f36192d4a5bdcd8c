"""Where API keys are kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from commonplace.domain.keys import Key


@runtime_checkable
class KeyRing(Protocol):
    async def add_key(self, key: Key) -> None: ...

    async def find_key(self, key: str) -> Key | None:
        """Return a key by its id, also one that has expired or was revoked."""
        ...

    async def keys(self, tenant: str | None = None) -> Sequence[Key]:
        """Return the keys of a tenant, or of all, oldest first."""
        ...

    async def revoke_key(self, key: str, *, at: datetime) -> bool:
        """Revoke it for good. False if there is none, or it was revoked before."""
        ...

    async def any_usable_key(self, *, now: datetime) -> bool: ...
