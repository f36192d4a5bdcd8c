"""The folder a memory lives in, as far as a doctor looks at it: who can read it, what lies about, and is there room."""

from collections.abc import Sequence
from typing import Protocol

from commonplace.domain.results import Finding


class Premises(Protocol):
    async def inspect(self, *, repair: bool) -> Sequence[Finding]:
        """Look at the folder. A repair makes it private again; files of unknown origin are named, never removed."""
        ...
