"""The methods that carry a user's memory out and in again."""

from os import PathLike

from commonplace.care.export import Export
from commonplace.care.importers.formats import parse_format
from commonplace.care.importers.source import Given, Source
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Imported, Reading
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.scope import Scope
from commonplace.engine.exporting import Exporting
from commonplace.engine.importing import Importing, Wishes
from commonplace.engine.parts import Parts


class Carrying:
    _parts: Parts
    _exporting: Exporting
    _importing: Importing

    async def export(
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
        scope = Scope(self._parts.options.tenant, parse_optional_name(user, name="user"))
        return await self._exporting.export(scope, to=to, vectors=vectors, progress=progress)

    async def import_from(
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
        if anonymous and user is not None:
            raise InvalidInput(f"user={user!r}, anonymous=True: expected one of them")
        reading = Reading(
            user=parse_optional_name(user, name="user"),
            anonymous=anonymous,
            session=parse_optional_name(session, name="session"),
            now=self._parts.now(),
        )
        wishes = Wishes(
            format=parse_format(format),
            only=only,
            learn=learn,
            bring_back=bring_back,
            dry_run=dry_run,
            strict=strict,
        )
        with Source(source) as opened:
            return await self._importing.take(opened, reading, wishes, progress=progress)
