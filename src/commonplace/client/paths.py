"""Names as parts of a path, and arguments that a query takes: refused here as the memory itself would refuse them."""

from collections.abc import Iterable
from urllib.parse import quote

from commonplace.domain.inputs import parse_name, parse_optional_name


def segment(value: object, *, name: str) -> str:
    """Return a name as one segment of a path, whatever it is made of."""
    return quote(parse_name(value, name=name), safe="", errors="surrogateescape").replace(".", "%2E")


def fact_path(fact_id: str) -> str:
    return f"/v1/facts/{segment(fact_id, name='fact_id')}"


def block_path(name: str) -> str:
    return f"/v1/blocks/{segment(name, name='name')}"


def user_of(user: object) -> str | None:
    return parse_optional_name(user, name="user")


def kinds_of(kinds: Iterable[str] | str | None) -> list[str] | None:
    return None if kinds is None else [kinds] if isinstance(kinds, str) else sorted(kinds)
