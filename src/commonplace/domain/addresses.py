"""Addresses of servers, as settings give them, and the secrets that go with them."""

import re
from urllib.parse import urlsplit

from commonplace.domain.errors import InvalidInput


def is_server(url: str) -> bool:
    """Say whether it is http://host:port/path or https://…, and nothing else: a user, a password or options in it would
    be dropped by whoever connects, or shown when that fails.
    """
    try:
        address = urlsplit(url)
        address.port  # noqa: B018 - raises if it is no number
    except ValueError:
        return False
    named = address.scheme in ("http", "https") and address.hostname and "@" not in address.netloc
    return bool(named) and not set(url) & set(" ?#") and url.isprintable()


def insist_on_header(setting: str, secret: str | None) -> None:
    """Refuse a secret that no header takes, such as one with a line's end. It is not shown, as clients would."""
    if secret is not None and not re.fullmatch("[!-~]+", secret):
        raise InvalidInput(f"{setting}: expected letters, digits and signs of ASCII, with no space and no line's end")


def insist_on_ports(setting: str, ports: str | int | None) -> None:
    """Refuse what is no port, or are no ports with commas between them, in the address of a PostgreSQL.

    It is not shown: of a password with a `/` in it that is not written %2F, it is the beginning.
    """
    for port in str(ports or "").split(","):
        if port and not (port.isascii() and port.isdecimal() and 0 < int(port) < 65_536):
            raise InvalidInput(f"{setting}: expected a port from 1 to 65535; write a / in a password as %2F")
