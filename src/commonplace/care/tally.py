"""What a ledger holds, as counts and one hash a user: two ledgers hold the same if these are the same."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from commonplace.care.lines import line_of
from commonplace.domain.archive import NAMES, OfTenant, OfUser, Opened, Record
from commonplace.domain.scope import Scope

TENANT = ""
"""Stands where a user's name would: for what is the tenant's own."""
Owner = tuple[str, str | None]


@dataclass(slots=True)
class Tally:
    """Is given all records of an archive, in their order."""

    counts: Counter[str] = field(default_factory=Counter)
    _digests: "dict[Owner, hashlib._Hash]" = field(default_factory=dict)
    _owner: Owner = (TENANT, TENANT)

    def add(self, records: Sequence[Record]) -> None:
        for record in records:
            match record:
                case Opened():
                    pass  # each ledger has a name of its own
                case OfTenant(tenant=tenant):
                    self._owner = (tenant, TENANT)
                case OfUser(user=user):
                    self._owner = (self._owner[0], user)
                case held:
                    self.counts[NAMES[type(held)]] += 1
                    digest = self._digests.setdefault(self._owner, hashlib.sha256())
                    digest.update(line_of(held).encode("ascii") + b"\n")

    @property
    def records(self) -> int:
        return self.counts.total()

    @property
    def users(self) -> int:
        return sum(user != TENANT for _, user in self._digests)

    def sha256(self) -> str:
        """Return one hash of all of it, whatever the order of users."""
        every = sorted((repr(owner), digest.hexdigest()) for owner, digest in self._digests.items())
        return hashlib.sha256(repr(every).encode()).hexdigest()

    def differing(self, other: "Tally") -> list[str]:
        """Return who holds something else in the other one, in words."""
        owners = sorted({*self._digests, *other._digests}, key=repr)
        return [_named(owner) for owner in owners if self._of(owner) != other._of(owner)]

    def _of(self, owner: Owner) -> bytes:
        digest = self._digests.get(owner)
        return b"" if digest is None else digest.digest()


def named(scope: Scope) -> str:
    """Return whose something is, among all tenants."""
    return f"{'the anonymous user' if scope.user is None else f'user {scope.user!r}'} of tenant {scope.tenant!r}"


def _named(owner: Owner) -> str:
    tenant, user = owner
    return f"what is tenant {tenant!r}'s own" if user == TENANT else named(Scope(tenant, user))
