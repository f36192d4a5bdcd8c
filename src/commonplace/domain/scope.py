"""Whose memory this is. Every read and write is confined to exactly one scope."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """One user of one tenant. `user=None` is the anonymous user: a bucket of its own, never everybody."""

    tenant: str
    user: str | None = None
