"""Where a memory is kept, as the caller names it."""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Self

from commonplace.domain.errors import InvalidInput


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
        return cls(url=text) if "://" in text else cls(home=Path(text).expanduser())

    @classmethod
    def nowhere(cls) -> Self:
        return cls(in_process=True)

    def settings(self) -> dict[str, object]:
        given = {"home": self.home, "database_url": self.url}
        return {name: value for name, value in given.items() if value is not None}
