"""Ids that name whose they are: some frameworks find a thing by its id alone, and here everything is somebody's."""

from urllib.parse import quote, unquote

from commonplace.domain.errors import InvalidInput


def owned_id(one: str, owner: str) -> str:
    return f"{quote(one, safe='')}@{quote(owner, safe='')}"


def parse_owned_id(value: object, *, name: str) -> tuple[str, str]:
    """Return what it is, and whose. Raises InvalidInput for an id that `owned_id` did not make."""
    one, at, owner = value.partition("@") if isinstance(value, str) else ("", "", "")
    if not (one and at and owner):
        raise InvalidInput(f"{name}={value!r}: expected an id as it was returned, e.g. 7f3a@ana")
    return unquote(one), unquote(owner)
