"""The methods that carry a user's memory out and in again."""

from os import PathLike

from commonplace.care.export import Export
from commonplace.domain.progress import Progress, unseen
from commonplace.memory import AsyncMemory
from commonplace.sync.loop import Loop


class Carrying:
    _loop: Loop
    _memory: AsyncMemory

    def export(
        self,
        *,
        user: str | None = None,
        to: str | PathLike[str] | None = None,
        vectors: bool = False,
        progress: Progress = unseen,
    ) -> Export:
        """Return everything held on a user, as of this moment: one JSON object a line, see docs/export-import.md.

        With `to` it is written there as it is read. With `vectors` it can be imported without an embedding model.
        """
        return self._loop.call(self._memory.export(user=user, to=to, vectors=vectors, progress=progress))
