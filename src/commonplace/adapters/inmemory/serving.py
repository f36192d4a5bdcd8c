"""Keys and answers in dictionaries, with the promises of `ports.keys` and `ports.answers`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from commonplace.domain.keys import Key
from commonplace.domain.scope import Scope
from commonplace.ports.answers import Answer, Asked, Instead


@dataclass(slots=True)
class _Taken:
    asked: Asked
    until: datetime
    answer: Answer | None = None
    whose: Scope | None = None
    forgotten: bool = False


class InMemoryServing:
    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[str, Key] = {}
        self._answers: dict[tuple[str, str], _Taken] = {}

    async def add_key(self, key: Key) -> None:
        self._keys[key.id] = key

    async def find_key(self, key: str) -> Key | None:
        return self._keys.get(key)

    async def keys(self, tenant: str | None = None) -> Sequence[Key]:
        return [key for key in self._keys.values() if tenant in (None, key.tenant)]

    async def revoke_key(self, key: str, *, at: datetime) -> bool:
        found = self._keys.get(key)
        if found is None or found.revoked_at is not None:
            return False
        self._keys[key] = replace(found, revoked_at=at)
        return True

    async def any_usable_key(self, *, now: datetime) -> bool:
        return any(key.usable(now) for key in self._keys.values())

    async def begin_answer(self, asked: Asked, *, now: datetime, lease: float) -> Instead | None:
        self._answers = {name: taken for name, taken in self._answers.items() if taken.until > now}
        taken = self._answers.get((asked.owner, asked.key))
        if taken is None:
            self._answers[asked.owner, asked.key] = _Taken(asked, now + timedelta(seconds=lease))
            return None
        if taken.forgotten:
            return "forgotten"
        if taken.asked.digest != asked.digest:
            return "another"
        return taken.answer or "running"

    async def keep_answer(self, asked: Asked, answer: Answer, *, whose: Scope | None, until: datetime) -> None:
        taken = self._answers.get((asked.owner, asked.key))
        if taken is not None and taken.asked == asked and not taken.forgotten:
            taken.answer, taken.whose, taken.until = answer, whose, until

    async def drop_answer(self, asked: Asked) -> None:
        taken = self._answers.get((asked.owner, asked.key))
        if taken is not None and taken.answer is None and not taken.forgotten:
            del self._answers[asked.owner, asked.key]

    def _forget_answers(self, scope: Scope) -> None:
        for taken in self._answers.values():
            if taken.asked.tenant == scope.tenant and taken.whose in (None, scope):
                taken.answer, taken.forgotten = None, True
