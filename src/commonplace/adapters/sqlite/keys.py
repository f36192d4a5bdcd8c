"""API keys. Of each, the ledger knows a salted hash."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from commonplace.adapters.sqlite.columns import (
    Connection,
    optional_micros,
    optional_moment,
    optional_text_column,
    optional_text_of,
    text_column,
    text_of,
)
from commonplace.domain.keys import Key
from commonplace.domain.times import from_micros, to_micros

_COLUMNS = "id, tenant, user, role, label, salt, digest, created_at, expires_at, revoked_at"


def add(connection: Connection, key: Key) -> None:
    connection.execute(
        f"insert into api_keys ({_COLUMNS}) values (?,?,?,?,?,?,?,?,?,?)",
        (
            key.id,
            text_column(key.tenant),
            optional_text_column(key.user),
            key.role,
            text_column(key.label),
            key.salt,
            key.digest,
            to_micros(key.created_at),
            optional_micros(key.expires_at),
            optional_micros(key.revoked_at),
        ),
    )


def find(connection: Connection, key: str) -> Key | None:
    row = connection.execute(f"select {_COLUMNS} from api_keys where id = ?", (key,)).fetchone()
    return None if row is None else _to_key(row)


def keys(connection: Connection, tenant: str | None) -> Sequence[Key]:
    wanted = None if tenant is None else text_column(tenant)
    rows = connection.execute(
        f"select {_COLUMNS} from api_keys where ?1 is null or tenant = ?1 order by created_at, no", (wanted,)
    )
    return [_to_key(row) for row in rows]


def revoke(connection: Connection, key: str, *, at: datetime) -> bool:
    revoked = connection.execute(
        "update api_keys set revoked_at = ? where id = ? and revoked_at is null", (to_micros(at), key)
    )
    return revoked.rowcount == 1


def any_usable(connection: Connection, *, now: datetime) -> bool:
    (found,) = connection.execute(
        "select exists (select 1 from api_keys where revoked_at is null and (expires_at is null or expires_at > ?))",
        (to_micros(now),),
    ).fetchone()
    return bool(found)


def _to_key(row: tuple[Any, ...]) -> Key:
    id_, tenant, user, role, label, salt, digest, created_at, expires_at, revoked_at = row
    return Key(
        id=id_,
        tenant=text_of(tenant),
        user=optional_text_of(user),
        role=role,
        label=text_of(label),
        salt=salt,
        digest=digest,
        created_at=from_micros(created_at),
        expires_at=optional_moment(expires_at),
        revoked_at=optional_moment(revoked_at),
    )
