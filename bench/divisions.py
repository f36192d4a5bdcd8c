"""The same items divided among few or many users, in every store that is compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.ours import fill
from bench.rivals import Chroma, Floor
from bench.scale import Bench
from commonplace import AsyncMemory

WATCHED = 5
"""Users who ask in turns: their rows are in RAM, as those of users in a conversation are."""


@dataclass(slots=True, kw_only=True)
class Division:
    users: int
    memory: AsyncMemory
    shared: Chroma
    own: Sequence[Chroma]
    """Of the watched users alone, which is kind to Chroma: thousands of collections cost RAM and file handles.
    None when there is one user: the shared collection is that user's own."""
    floors: list[Floor] = field(default_factory=list)

    @property
    def watched(self) -> int:
        return min(WATCHED, self.users)

    @property
    def tenant(self) -> str:
        return tenant_of(self.users)

    def mine(self, user: int, start: int, stop: int) -> range:
        """Return the numbers of a user's items between two totals."""
        return range(start + (user - start) % self.users, stop, self.users)

    def where(self, user: int) -> dict[str, int]:
        return {self.tenant: user}

    async def grow(self, bench: Bench, start: int, stop: int) -> None:
        """Give every user a fair share of the items between two totals. The shared collection has them already."""
        material = bench.material
        everyone = [(str(user), self.mine(user, start, stop)) for user in range(self.users)]
        await fill(self.memory, material, [(user, numbers) for user, numbers in everyone if numbers])
        for user, collection in enumerate(self.own):
            mine = self.mine(user, start, stop)
            texts = [material.texts[n] for n in mine]
            collection.load(mine, material.vectors[list(mine)], texts, [{"user": user} for _ in mine])
        held = [self.mine(user, 0, stop) for user in range(self.watched)]
        self.floors = [Floor(numbers, material.vectors[list(numbers)]) for numbers in held]


def tenant_of(users: int) -> str:
    return f"among_{users}"
