"""Which responses of the service behind were given to whom.

All users share the operator's key there, so the service behind would let any of them go on with another's response. Who
was given it is known for as long as OpenAI keeps it; it is forgotten when something of that user is.
"""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from commonplace.domain.scope import Scope
from commonplace.interfaces.http.access import Access, Forbidden
from commonplace.interfaces.http.proxies.upstream import Provider
from commonplace.interfaces.http.service import Service
from commonplace.ports.answers import Answer, Asked

KEPT = timedelta(days=30)
LEASE = 30.0


@dataclass(frozen=True, slots=True)
class Given:
    """The responses that one user was given."""

    service: Service
    scope: Scope

    async def note(self, response: str) -> None:
        asked = self._asked(response)
        if await self.service.answers.begin_answer(asked, now=self.service.now(), lease=LEASE) is None:
            until = self.service.now() + KEPT
            known = Answer(status=200, headers={}, body=b"")
            await self.service.answers.keep_answer(asked, known, whose=self.scope, until=until)

    async def check(self, response: str) -> None:
        """Raise Forbidden for a response that this user was not given."""
        asked = self._asked(response)
        found = await self.service.answers.begin_answer(asked, now=self.service.now(), lease=LEASE)
        if isinstance(found, Answer):
            return
        if found is None:
            await self.service.answers.drop_answer(asked)
        raise Forbidden(
            f"{response[:100]!r} was not given to this user by this service: with the operator's key nobody goes on"
            " with what is not their own (send your own key beside X-Commonplace-Key)"
        )

    def _asked(self, response: str) -> Asked:
        whose = f"{len(self.scope.tenant)}:{self.scope.tenant}:{self.scope.user or ''}:{self.scope.user is None}"
        digest = hashlib.sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()
        return Asked(tenant=self.scope.tenant, owner=f"responses:{digest}", key=response, digest=b"")


def given_of(access: Access, provider: Provider, user: str | None) -> Given | None:
    """Return what to note and to check; None for who uses a key of their own, or is the operator."""
    request = access.request
    if access.caller.key == "local" or not provider.lends_its_key(request.headers):
        return None
    return Given(request.app.state.service, Scope(access.caller.tenant, user))
