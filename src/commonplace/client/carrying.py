"""The methods of AsyncClient that carry a user's memory out and in again: the file goes as it is."""

import asyncio
import io
import json
from os import PathLike, fspath
from pathlib import Path
from typing import cast

from commonplace.care.export import Export
from commonplace.care.importers.source import Given
from commonplace.client.asking import Asking, params_of
from commonplace.client.paths import user_of
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Imported
from commonplace.domain.inputs import parse_optional_name
from commonplace.domain.plain import from_json
from commonplace.domain.progress import Progress, unseen


class RemoteCarrying:
    _asking: Asking

    async def export(
        self,
        *,
        user: str | None = None,
        to: str | PathLike[str] | None = None,
        vectors: bool = False,
        progress: Progress = unseen,
    ) -> Export:
        """Return everything held on a user, as of this moment: one JSON object a line."""
        params = params_of({"vectors": vectors, "user": user_of(user)})
        answer = await self._asking.send("GET", "/v1/export", params=params)
        counts = json.loads(answer.headers.get("x-commonplace-counts", "{}"))
        held = Export(io.BytesIO(answer.content), user=user, counts=counts)
        if to is not None:
            held.write(to)
        return held

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
        """Take in an export, or what another program has kept: a path here, an open file, or lines. Twice is once."""
        if anonymous and user is not None:
            raise InvalidInput(f"user={user!r}, anonymous=True: expected one of them")
        params = params_of(
            {
                "user": user_of(user),
                "anonymous": anonymous,
                "only": only,
                "session": parse_optional_name(session, name="session"),
                "format": format,
                "learn": learn,
                "bring_back": bring_back,
                "dry_run": dry_run,
                "strict": strict,
            }
        )
        content = await asyncio.to_thread(_content, source)
        answer = await self._asking.send(
            "POST", "/v1/import", params=params, content=content, media_type="application/octet-stream"
        )
        progress("Importing", len(content), len(content))
        return from_json(Imported, answer.json())


def _content(source: Given) -> bytes:
    """Return the whole file: what is asked again must be sent again."""
    if isinstance(source, str | PathLike):
        try:
            return Path(fspath(source)).read_bytes()
        except OSError as error:
            raise InvalidInput(f"{source}: cannot be read: {error.strerror}") from error
    pieces = [source.read()] if hasattr(source, "read") else [f"{line}".rstrip("\n") + "\n" for line in source]
    return b"".join(_bytes(cast("str | bytes", piece)) for piece in pieces)


def _bytes(piece: str | bytes) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
