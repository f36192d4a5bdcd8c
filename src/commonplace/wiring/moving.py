"""Opens the two ledgers of a move. A source is never made by being named."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from commonplace.domain.errors import InvalidInput
from commonplace.domain.moves import Moved
from commonplace.domain.progress import Progress
from commonplace.engine.moving import Moving, ready
from commonplace.engine.parts import Parts
from commonplace.wiring.location import Location, reachable, sqlite_file
from commonplace.wiring.restoring import ledger_only


async def moved(
    source: Location,
    target: Location,
    overrides: Mapping[str, object],
    *,
    progress: Progress,
    in_use: bool = False,
    without_lost: bool = False,
) -> Moved:
    """Move everything from one place to another. `home` among the overrides is where a server's attachments are."""
    if source == target:
        raise InvalidInput(f"{source}: is named twice; expected two places")
    _refuse_nothing(source)
    _refuse_other_files(target)
    async with _parts(source, overrides, existing=True) as out:
        await ready(out.ledger, str(source), now=datetime.now(UTC), in_use=in_use)
        async with _parts(target, overrides) as into:
            moving = Moving(out, into, names=(str(source), str(target)), without_lost=without_lost)
            return await moving.move(progress=progress)


def _file(location: Location) -> Path | None:
    file = sqlite_file(location.url or "") if location.home is None else location.home / "ledger.db"
    return None if file is None else reachable(file)


def _refuse_nothing(source: Location) -> None:
    """A server is asked when it is opened."""
    file = _file(source)
    if source.home is not None and source.home.is_file():
        raise InvalidInput(f"{source}: is a file; expected a folder, or sqlite:///{source} for a database file")
    if file is not None and not file.exists():
        raise InvalidInput(f"{source}: there is no memory; expected one to move")


def _refuse_other_files(target: Location) -> None:
    home = target.home
    if home is None or not reachable(home).exists() or (home / "ledger.db").exists():
        return
    if not home.is_dir() or any(home.iterdir()):
        raise InvalidInput(f"{target}: is there already; expected a new or an empty folder")


@asynccontextmanager
async def _parts(
    location: Location, overrides: Mapping[str, object], *, existing: bool = False
) -> AsyncIterator[Parts]:
    from commonplace.settings import Settings

    # By its file, because a database that the environment names would win over a folder.
    file = _file(location)
    url = location.url if file is None else f"sqlite:///{quote(str(file.absolute()))}"
    # A key is that of the SQLite file, whichever side it is on: a server's disk is encrypted by other means.
    keys = dict.fromkeys(("ledger_key", "ledger_key_file", "ledger_keyring")) if file is None else {}
    settings = Settings.from_sources(**{**overrides, **keys, "database_url": url})
    async with ledger_only(settings, existing=existing) as parts:
        yield parts
