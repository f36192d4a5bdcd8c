"""API keys. Of each, the ledger knows a salted hash."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from commonplace.adapters.postgres.columns import (
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

_COLUMNS = 'id, tenant, "user", role, label, salt, digest, created_at, expires_at, revoked_at'


async def add(connection: Connection, key: Key) -> None:
    await connection.execute(
        f"insert into api_keys ({_COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
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


async def find(connection: Connection, key: str) -> Key | None:
    found = await connection.execute(f"select {_COLUMNS} from api_keys where id = %s", (key,))
    row = await found.fetchone()
    return None if row is None else _to_key(row)


async def keys(connection: Connection, tenant: str | None) -> Sequence[Key]:
    whose, values = ("true", ()) if tenant is None else ("tenant = %s", (text_column(tenant),))
    found = await connection.execute(f"select {_COLUMNS} from api_keys where {whose} order by created_at, no", values)
    return [_to_key(row) for row in await found.fetchall()]


async def revoke(connection: Connection, key: str, *, at: datetime) -> bool:
    revoked = await connection.execute(
        "update api_keys set revoked_at = %s where id = %s and revoked_at is null", (to_micros(at), key)
    )
    return revoked.rowcount == 1


async def any_usable(connection: Connection, *, now: datetime) -> bool:
    found = await connection.execute(
        "select 1 from api_keys where revoked_at is null and (expires_at is null or expires_at > %s) limit 1",
        (to_micros(now),),
    )
    return await found.fetchone() is not None


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
