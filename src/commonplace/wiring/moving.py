"""Opens the two ledgers of a move. A source is never made by being named."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from commonplace.domain.errors import InvalidInput
from commonplace.domain.moves import Moved
from commonplace.domain.progress import Progress
from commonplace.engine.moving import Moving
from commonplace.engine.parts import Parts
from commonplace.wiring.location import Location, sqlite_file
from commonplace.wiring.restoring import ledger_only


async def moved(
    source: Location, target: Location, overrides: Mapping[str, object], *, in_use: bool, progress: Progress
) -> Moved:
    """Move everything from one place to another."""
    if source == target:
        raise InvalidInput(f"{source}: is named twice; expected two places")
    file = _file(source)
    if file is not None and not file.exists():
        raise InvalidInput(f"{source}: there is no memory; expected one to move")
    _refuse_other_files(target)
    async with _parts(source, overrides) as out, _parts(target, overrides) as into:
        moving = Moving(out, into, names=(str(source), str(target)), now=lambda: datetime.now(UTC))
        return await moving.move(in_use=in_use, progress=progress)


def _file(location: Location) -> Path | None:
    if location.home is not None:
        return location.home / "ledger.db"
    return sqlite_file(location.url or "")


def _refuse_other_files(target: Location) -> None:
    home = target.home
    if home is None or not home.exists() or (home / "ledger.db").exists():
        return
    if not home.is_dir() or any(home.iterdir()):
        raise InvalidInput(f"{target}: is there already; expected a new or an empty folder")


@asynccontextmanager
async def _parts(location: Location, overrides: Mapping[str, object]) -> AsyncIterator[Parts]:
    from commonplace.settings import Settings

    # By its file, because a database that the environment names would win over a folder.
    file = _file(location)
    url = location.url if file is None else f"sqlite:///{quote(str(file.absolute()))}"
    # A key is that of the SQLite file, whichever side it is on: a server's disk is encrypted by other means.
    keys = dict.fromkeys(("ledger_key", "ledger_key_file", "ledger_keyring")) if file is None else {}
    async with ledger_only(Settings.from_sources(**{**overrides, **keys, "database_url": url})) as parts:
        yield parts
