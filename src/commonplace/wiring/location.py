"""Where a memory is kept, as the caller names it."""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from commonplace.domain.errors import InvalidInput, LedgerUnavailable

SCHEMES = ("sqlite", "postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class Location:
    """Where a memory is kept. Nothing named means: where the settings say."""

    home: Path | None = None
    url: str | None = None
    in_process: bool = False

    @classmethod
    def parse(cls, location: str | PathLike[str] | None) -> Self:
        if location is None:
            return cls()
        if not isinstance(location, (str, PathLike)) or not fspath(location):
            raise InvalidInput(f"location={location!r}: expected a folder or a URL like sqlite:///… or postgresql://…")
        text = fspath(location)
        scheme, colon, rest = text.partition(":")
        if scheme in SCHEMES and colon and not rest.startswith("//"):
            raise InvalidInput(f"{scheme}:…: expected {scheme}://… for a database, or ./{scheme}:… for a folder")
        return cls(url=text) if "://" in text else cls(home=Path(text).expanduser())

    @classmethod
    def nowhere(cls) -> Self:
        return cls(in_process=True)

    def __str__(self) -> str:
        """How a place may be shown: without user, password and options."""
        return str(self.home) if self.url is None else shown(self.url)

    def settings(self) -> dict[str, object]:
        given = {"home": self.home, "database_url": self.url}
        return {name: value for name, value in given.items() if value is not None}


def reachable(path: Path) -> Path:
    """Return a path that can be looked at, whether there is something or not. Raises LedgerUnavailable for any other:
    a folder on the way may be somebody else's.
    """
    try:
        path.exists()
    except OSError as error:
        raise LedgerUnavailable(f"{path}: {error.strerror}") from error
    return path


def sqlite_file(url: str) -> Path | None:
    """Return the file that sqlite:///relative/path or sqlite:////absolute/path names; None if an address names none."""
    scheme, _, rest = url.partition("://")
    path = rest.partition("?")[0].partition("#")[0]
    named = scheme == "sqlite" and path.startswith("/") and path.strip("/")
    return Path(unquote(path[1:])) if named else None


def shown(url: str) -> str:
    """Return the address of a database without user, password and options, whatever is in them."""
    if (file := sqlite_file(url)) is not None:
        return f"sqlite:///{file}"
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{_place(rest).rpartition('@')[2]}"


def checked(setting: str, url: str) -> str:
    """Refuse the address of a PostgreSQL whose password would be taken for something else, and shown."""
    rest = url.partition("://")[2]
    options = rest.partition("?")[2].split("&") if _place(rest) == rest.partition("?")[0] else ()
    if "@" in _place(rest) or any("@" in option.partition("=")[0] for option in options):
        raise InvalidInput(
            f"{setting}: expected postgresql://user@host/database; write an @ in a password as %40, a / as %2F"
        )
    return url


def _place(rest: str) -> str:
    """Return what libpq takes for host, port and database: all that is after the first @, unless a / comes before."""
    who, at, place = rest.partition("@")
    return (place if at and "/" not in who else rest).partition("?")[0]
