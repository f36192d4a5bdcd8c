"""Addresses of servers, as settings give them."""

from urllib.parse import urlsplit


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
