"""The settings of servers that several processes share."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from commonplace.setting_types import Place


class SharedSettings(BaseSettings):
    postgres_pool: int = Field(10, ge=1, le=1000, description="PostgreSQL: most connections of one process.")
    postgres_statement_timeout: float = Field(
        30.0, ge=0, description="PostgreSQL: seconds that one statement may take. 0: as long as it likes."
    )
    postgres_patience: float = Field(
        30.0,
        gt=0,
        description="PostgreSQL: seconds that a call waits for a connection, or for the server to come back.",
    )
    postgres_rewrite_up_to: int = Field(
        2**30, ge=0, description="PostgreSQL: bytes of tables that a forget writes anew, to leave no trace in them."
    )
    redis_url: str | None = Field(
        None, repr=False, description="A Redis server for sessions, limits and caches: `redis://…`, `rediss://…` (TLS)."
    )
    redis_username: str | None = Field(None, description="The user there (ACL), unless it is in the address.")
    redis_password: SecretStr | None = Field(None, description="Its password, unless it is in the address.")
    redis_ca_file: Place | None = Field(
        None, description="Certificates that vouch for a `rediss://` server. Unset: those that the system trusts."
    )
    redis_timeout: float = Field(
        0.5, gt=0, le=60, description="Seconds to wait for Redis before the ledger is asked instead."
    )
