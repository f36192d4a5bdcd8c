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
    fold: bool = True
    """Show once what was found more than once."""

    @property
    def filtered(self) -> bool:
        """Whether anything is to be left out that holds now."""
        filters = (self.kinds, self.session, self.agent, self.during, self.valid_at, self.as_of, self.where)
        return any(value is not None for value in filters)
