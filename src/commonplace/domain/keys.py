"""API keys: what they open, and how one is known again without being kept.

A key's secret has 256 random bits, so a keyed hash with a salt of its own is enough: there is nothing to guess. The
secret is shown once, when the key is made.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from commonplace.domain.errors import InvalidInput
from commonplace.domain.inputs import parse_name, parse_optional_name

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what those before it may."""
MARK = "cp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What the ledger keeps of a key: never its secret."""

    id: str
    tenant: str
    user: str | None
    """The only user it opens; None: every user of the tenant."""
    role: Role
    label: str
    salt: bytes
    digest: bytes
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def usable(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def fits(self, secret: str) -> bool:
        return hmac.compare_digest(self.digest, _digest(self.salt, secret))


class Token(NamedTuple):
    """What a caller shows: `cp_<id>_<secret>`."""

    id: str
    secret: str

    def __str__(self) -> str:
        return f"{MARK}_{self.id}_{self.secret}"


def new_key(
    *, tenant: str, user: str | None, role: str, label: str, now: datetime, expires_at: datetime | None = None
) -> tuple[Key, Token]:
    """Return a key and the token that fits it. Raises InvalidInput."""
    if expires_at is not None and expires_at <= now:
        raise InvalidInput(f"expires_at={expires_at.isoformat()}: expected a moment that is still to come")
    token, salt = Token(secrets.token_hex(6), secrets.token_urlsafe(32)), secrets.token_bytes(16)
    key = Key(
        id=token.id,
        tenant=parse_name(tenant, name="tenant"),
        user=parse_optional_name(user, name="user"),
        role=parse_role(role),
        label=label,
        salt=salt,
        digest=_digest(salt, token.secret),
        created_at=now,
        expires_at=expires_at,
    )
    return key, token


def parse_role(value: object) -> Role:
    if value not in ROLES:
        raise InvalidInput(f"role={value!r}: expected one of {', '.join(ROLES)}")
    return value


def parse_token(text: str) -> Token | None:
    """Return the parts of a token; None for what cannot be one."""
    mark, _, rest = text.partition("_")
    id_, _, secret = rest.partition("_")
    return Token(id_, secret) if mark == MARK and id_ and secret and text.isascii() else None


def _digest(salt: bytes, secret: str) -> bytes:
    return hmac.digest(salt, secret.encode(), hashlib.sha256)
