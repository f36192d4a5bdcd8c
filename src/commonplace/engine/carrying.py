"""The methods that carry a user's memory out and in again."""

from os import PathLike

from commonplace.care.export import Export
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.progress import Progress, unseen
from commonplace.domain.scope import Scope
from commonplace.engine.exporting import Exporting
from commonplace.engine.parts import Parts


class Carrying:
    _parts: Parts
    _exporting: Exporting

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
