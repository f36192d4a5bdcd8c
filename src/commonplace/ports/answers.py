"""Answers that were given, kept for a while: who asks twice with one Idempotency-Key is answered twice alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from commonplace.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, as it is known again."""

    tenant: str
    owner: str
    """Who asks: the same key of another owner is another request."""
    key: str
    digest: bytes
    """Of what is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


Instead = Answer | Literal["running", "another", "forgotten"]
"""Why a request is not to be worked on: it was answered; it is being worked on; its key was used for another request;
its answer is gone, for it was about something that has been forgotten since."""


@runtime_checkable
class Answers(Protocol):
    async def begin_answer(self, asked: Asked, *, now: datetime, lease: float) -> Instead | None:
        """Take a request in hand for `lease` seconds. None: it is new, or whoever had it in hand did not finish."""
        ...

    async def keep_answer(self, asked: Asked, answer: Answer, *, whose: Scope | None, until: datetime) -> None:
        """Keep the answer until that moment, unless something of its user was forgotten meanwhile.

        It goes when something of its user is forgotten; with `whose` None, when anything of its tenant is.
        """
        ...

    async def drop_answer(self, asked: Asked) -> None:
        """It came to nothing: the next one with this key may try."""
        ...
