"""S3 and what is compatible with it, through obstore: a SnapshotStore here, attachments beside it.

Credentials come from where the AWS tools look for them (AWS_ACCESS_KEY_ID and the others, or the machine's role).
"""

from collections.abc import Sequence
from datetime import timedelta

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from commonplace.domain.addresses import is_server
from commonplace.domain.errors import InvalidInput, NotFound, StoreUnavailable


class S3SnapshotStore:
    def __init__(
        self, place: str, *, endpoint: str | None = None, timeout: float = 60.0, patience: float = 60.0
    ) -> None:
        """`timeout` is for one request, `patience` for all attempts at it together, in seconds."""
        self._place = place
        self._store, self._prefix = opened_bucket(place, endpoint=endpoint, timeout=timeout, patience=patience)

    @property
    def place(self) -> str:
        return self._place

    async def put(self, name: str, data: bytes) -> None:
        try:
            await obstore.put_async(self._store, self._key(name), data)
        except BaseError as error:
            raise self._unavailable(error) from error

    async def get(self, name: str) -> bytes:
        try:
            found = await obstore.get_async(self._store, self._key(name))
            return bytes(await found.bytes_async())
        except FileNotFoundError:
            raise NotFound("object", name) from None
        except BaseError as error:
            raise self._unavailable(error) from error

    async def names(self, prefix: str) -> Sequence[str]:
        start = len(self._key(""))
        try:
            found = await obstore.list(self._store, self._key(prefix.rstrip("/"))).collect_async()
        except FileNotFoundError:
            return []
        except BaseError as error:
            raise self._unavailable(error) from error
        return sorted(str(one["path"])[start:] for one in found)

    async def delete(self, names: Sequence[str]) -> None:
        try:
            for name in names:
                await obstore.delete_async(self._store, self._key(name))
        except FileNotFoundError:
            return
        except BaseError as error:
            raise self._unavailable(error) from error

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}" if self._prefix else name

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        return unavailable(self._place, error)


def opened_bucket(
    place: str, *, endpoint: str | None, timeout: float = 60.0, patience: float = 60.0
) -> tuple[S3Store, str]:
    """Return the bucket of `s3://bucket/prefix`, and the prefix. Raises InvalidInput for what is none."""
    scheme, _, rest = place.partition("://")
    bucket, _, prefix = rest.partition("/")
    if scheme != "s3" or not bucket:
        raise InvalidInput(f"{place!r}: expected s3://bucket or s3://bucket/prefix")
    if endpoint is not None and not is_server(endpoint):  # not shown: it may hold a password
        raise InvalidInput("s3_endpoint: expected http://host:port or https://host:port")
    insecure = endpoint is not None and endpoint.startswith("http://")
    given = {} if endpoint is None else {"endpoint": endpoint, "virtual_hosted_style_request": False}
    store = S3Store(
        bucket,
        client_options={"timeout": timedelta(seconds=timeout), "allow_http": insecure},
        retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=patience)},
        **given,  # type: ignore[arg-type]
    )
    return store, prefix.strip("/")


def unavailable(place: str, error: Exception) -> StoreUnavailable:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return StoreUnavailable(f"{place}: {first[:300]}")
