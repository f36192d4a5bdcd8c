"""SQLite with SQLCipher: every page of the file, and of its log, is encrypted with AES-256 and authenticated."""

import contextlib
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sqlcipher3 import dbapi2

from commonplace.adapters.sqlite.database import PAGE_SIZE
from commonplace.domain.errors import Incompatible, InvalidInput


@dataclass(frozen=True, slots=True)
class Cipher:
    """Opens encrypted files. A passphrase is stretched by SQLCipher itself, with a salt that is in the file."""

    key: str | bytes = field(repr=False)
    """A passphrase, or 32 bytes that are used as they are."""

    def __post_init__(self) -> None:
        if not self.key or (isinstance(self.key, str) and "\0" in self.key):
            raise InvalidInput("ledger_key: expected a passphrase that is not empty")

    def connect(self, path: Path | str, **options: Any) -> sqlite3.Connection:
        self._refuse_plain(Path(path))
        connection = dbapi2.connect(str(path), **options)
        connection.execute("pragma cipher_log_level = none")  # it would write to stderr
        connection.execute(f"pragma key = {self._spelled()}")
        connection.execute(f"pragma cipher_page_size = {PAGE_SIZE}")  # the file itself does not say it in the clear
        # SQLCipher's module is a build of Python's own: the same class by another name.
        return cast(sqlite3.Connection, connection)

    def _spelled(self) -> str:
        if isinstance(self.key, bytes):
            return f"\"x'{self.key.hex()}'\""
        quoted = self.key.replace("'", "''")
        return f"'{quoted}'"

    def _refuse_plain(self, path: Path) -> None:
        """Ask SQLCipher: were the file opened here and closed again, every lock of this process on it would be gone."""
        if not path.is_file() or not path.stat().st_size:
            return
        with contextlib.closing(dbapi2.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as plain:
            plain.execute("pragma cipher_log_level = none")
            try:
                plain.execute("pragma schema_version").fetchone()
            except dbapi2.DatabaseError:
                return
            raise Incompatible(
                f"{path} is not encrypted, and a key is given: open it without one, make a snapshot, and restore "
                "that into a new folder with the key"
            )
