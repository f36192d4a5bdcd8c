"""What a recall asks for, parsed."""

from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.values import Kind, SessionId
from commonplace.domain.where import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    query: str
    limit: int = 10
    kinds: frozenset[Kind] | None = None
    session: SessionId | None = None
    agent: str | None = None
    during: tuple[datetime | None, datetime | None] | None = None
    valid_at: datetime | None = None
    as_of: datetime | None = None
    where: Where | None = None
    min_relevance: float | None = None
    explain: bool = False
