"""The methods that carry a user's memory out and in again."""

from os import PathLike

from commonplace.care.export import Export
from commonplace.care.importers.source import Given
from commonplace.domain.imports import Imported
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

    def import_from(
        self,
        source: Given,
        *,
        user: str | None = None,
        anonymous: bool = False,
        only: bool = False,
        session: str | None = None,
        format: str = "auto",
        learn: bool = True,
        bring_back: bool = False,
        dry_run: bool = False,
        strict: bool = False,
        progress: Progress = unseen,
    ) -> Imported:
        """Take in an export, or what another program has kept: a path, an open file, or lines. Twice is once.

        `user` makes it all theirs, `anonymous` the anonymous user's; without them it stays whose it was. What a
        receipt says was forgotten here is left out and counted, unless `bring_back`. A bad line is reported and the
        rest goes on, unless `strict`. With `only`, what names another user is a bad line. A dry run counts, and changes
        nothing. `learn` is for files of messages.
        """
        return self._loop.call(
            self._memory.import_from(
                source,
                user=user,
                anonymous=anonymous,
                only=only,
                session=session,
                format=format,
                learn=learn,
                bring_back=bring_back,
                dry_run=dry_run,
                strict=strict,
                progress=progress,
            )
        )
