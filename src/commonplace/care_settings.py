"""The settings of the care of data: how long it is kept, and its snapshots."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from commonplace.domain.retention import Retention
from commonplace.setting_types import Place


def _retention(value: str) -> str:
    Retention.parse(value)
    return value


Days = Annotated[str, AfterValidator(_retention), Field(coerce_numbers_to_str=True)]


class CareSettings(BaseSettings):
    retention_days: Days | None = Field(
        None, description="Days after which things are purged: `365`, or `message=365,fact=730,acme/message=30`."
    )
    purge_interval: float = Field(3_600.0, gt=0, description="Seconds between two purges by a worker or service.")
    snapshot_to: str | None = Field(
        None, description="Where snapshots are kept: a folder or `s3://bucket/prefix`. Unset: in `s3_bucket`, if set."
    )
    s3_bucket: str | None = Field(None, description="The bucket for snapshots, as `bucket` or `bucket/prefix`.")
    s3_endpoint: str | None = Field(
        None, repr=False, description="A server that speaks S3, as `https://host:port`. Unset: Amazon's."
    )
    snapshot_interval: float | None = Field(
        None, gt=0, description="Seconds between two snapshots by a worker or service. Unset: none are made."
    )
    snapshot_keep: int = Field(
        14, ge=1, description="How many snapshots a worker or service keeps when it has made another one."
    )
    snapshot_passphrase: SecretStr | None = Field(None, description="Encrypts snapshots, and reads encrypted ones.")
    snapshot_key_file: Place | None = Field(
        None, description="A file of 32 or more random bytes that does the same, instead of a passphrase."
    )

    attachments_to: str | None = Field(
        None,
        description="Where attachments are kept: a folder or `s3://bucket/prefix`. Unset: beside the ledger.",
    )
    attachment_bytes: int = Field(25 << 20, ge=1, description="Most bytes of one attachment.")
    attachment_types: str = Field(
        "image/*,text/*,application/json,application/pdf",
        min_length=1,
        description="The media types that may be attached, as `image/*,text/plain`; `*/*` for all.",
    )

    ledger_key: SecretStr | None = Field(None, description="Encrypts the SQLite ledger: a passphrase.")
    ledger_key_file: Place | None = Field(
        None, description="A file of 32 or more random bytes that does the same, instead of a passphrase."
    )
    ledger_keyring: str | None = Field(
        None,
        min_length=1,
        description="The entry of the system's keyring that has the passphrase, under `commonplace`.",
    )

    @property
    def snapshot_place(self) -> str | None:
        if self.snapshot_to is not None or self.s3_bucket is None:
            return self.snapshot_to
        return self.s3_bucket if "://" in self.s3_bucket else f"s3://{self.s3_bucket}"
