"""The methods for files on their own."""

from os import PathLike

from commonplace.domain.values import Attachment
from commonplace.engine.filing import Source
from commonplace.memory import AsyncMemory
from commonplace.sync.loop import Loop


class Filing:
    _loop: Loop
    _memory: AsyncMemory

    def attach(
        self, source: Source, *, user: str | None = None, name: str | None = None, type: str | None = None
    ) -> Attachment:
        """Keep a file for a message that is still to be added with `attachments=[{"id": …}]`.

        Without such a message it is removed with the next forget of this user, or by `doctor`.
        """
        return self._loop.call(self._memory.attach(source, user=user, name=name, type=type))

    def attachment(self, attachment_id: str, *, user: str | None = None) -> Attachment:
        """Return what is known of a file that a message carries. Raises NotFound, also for somebody else's."""
        return self._loop.call(self._memory.attachment(attachment_id, user=user))

    def read_attachment(self, attachment_id: str, *, user: str | None = None) -> bytes:
        """Return the bytes of a file that a message carries."""
        return self._loop.call(self._memory.read_attachment(attachment_id, user=user))

    def save_attachment(self, attachment_id: str, to: str | PathLike[str], *, user: str | None = None) -> Attachment:
        """Write a file that a message carries to a path, whole or not at all, for the user's own eyes only."""
        return self._loop.call(self._memory.save_attachment(attachment_id, to, user=user))
