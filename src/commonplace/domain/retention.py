"""How long things are kept: rules by kind and tenant, and what they mean at a moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from commonplace.domain.errors import InvalidInput

FACT_KINDS = ("fact", "preference", "semantic", "context")
KINDS = ("message", *FACT_KINDS)
EXPECTED = "expected days like 365, or by kind and tenant like message=365,fact=730,acme/message=30"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What has to go at a moment: what expires by then, and what was last said before the moment of its kind."""

    at: datetime
    said_before: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A user whose data nobody may remove, by law or by order, until somebody releases it."""

    user: str | None
    since: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """Days by (tenant, kind). A tenant of None is every tenant, a kind of None every kind."""

    days: Mapping[tuple[str | None, str | None], int] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Read `365`, `message=365,fact=730` or `365,acme/message=30`. Raises InvalidInput."""
        days: dict[tuple[str | None, str | None], int] = {}
        for item in (text or "").split(","):
            if not item.strip():
                continue
            name, _, number = item.strip().rpartition("=")
            tenant, slash, kind = name.rpartition("/")
            if not slash and "/" in number:
                tenant, _, number = number.rpartition("/")
            if not number.strip().isascii() or not number.strip().isdigit() or int(number) < 1:
                raise InvalidInput(f"retention_days={text!r}: {EXPECTED}")
            if kind.strip() not in ("", *KINDS):
                raise InvalidInput(f"retention_days={text!r}: {kind.strip()!r} is none of {', '.join(KINDS)}")
            days[tenant.strip() or None, kind.strip() or None] = int(number)
        return cls(days)

    def due(self, tenant: str, *, at: datetime) -> Due:
        """Return what has to go in this tenant at a moment."""
        kept = {kind: self._days(tenant, kind) for kind in KINDS}
        return Due(at=at, said_before={kind: _before(at, days) for kind, days in kept.items() if days is not None})

    def _days(self, tenant: str, kind: str) -> int | None:
        """The closest rule wins: the tenant's own before everybody's, a kind's own before `fact` before all kinds."""
        names = (kind, "fact", None) if kind in FACT_KINDS else (kind, None)
        found = (self.days.get((whose, name)) for whose in (tenant, None) for name in names)
        return next((days for days in found if days is not None), None)


def _before(at: datetime, days: int) -> datetime:
    try:
        return at - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=at.tzinfo)
