"""The settings of servers that several processes share."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings


def _expanded(value: object) -> object:
    return os.path.expanduser(value) if isinstance(value, str) else value


File = Annotated[Path, BeforeValidator(_expanded)]


class SharedSettings(BaseSettings):
    redis_url: str | None = Field(
        None, repr=False, description="A Redis server for sessions, limits and caches: `redis://…`, `rediss://…` (TLS)."
    )
    redis_username: str | None = Field(None, description="The user there (ACL), unless it is in the address.")
    redis_password: SecretStr | None = Field(None, description="Its password, unless it is in the address.")
    redis_ca_file: File | None = Field(
        None, description="Certificates that vouch for a `rediss://` server. Unset: those that the system trusts."
    )
    redis_timeout: float = Field(
        0.5, gt=0, le=60, description="Seconds to wait for Redis before the ledger is asked instead."
    )
