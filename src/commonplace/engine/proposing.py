"""Single messages, and what others read out of them: they propose, and the message itself decides."""

from collections.abc import Sequence

from commonplace.domain.claims import Proposal
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.inputs import parse_name, parse_optional_name
from commonplace.domain.results import Added
from commonplace.domain.scope import Scope
from commonplace.domain.values import Message, MessageId
from commonplace.engine.adding import Adding
from commonplace.engine.parts import Parts

MOST = 100
"""Proposals about one message."""


class Proposing:
    _parts: Parts
    _adding: Adding

    async def message(self, message_id: str, *, user: str | None = None) -> Message:
        """Return one message, word for word. Raises NotFound, also when it is somebody else's."""
        scope, one = self._owned(user), MessageId(parse_name(message_id, name="message_id"))
        found = await self._parts.ledger.messages_by_id(scope, [one])
        if one not in found:
            raise NotFound("message", one)
        return found[one]

    async def propose(
        self, message_id: str, proposals: Sequence[Proposal], *, user: str | None = None, by: str = "agent"
    ) -> Added:
        """Learn what `by` says that a message of the user states. What the message does not say is dropped.

        What is left is compared with what is known, and written, like everything that is learned.
        """
        given = [one for one in proposals if isinstance(one, Proposal)]
        if len(given) != len(proposals) or len(given) > MOST:
            raise InvalidInput(f"proposals: expected at most {MOST} values of type Proposal")
        message = await self.message(message_id, user=user)
        return await self._adding.propose(self._owned(user), message, given, by=parse_name(by, name="by"))

    async def settle(self, added: Added) -> Added:
        """Wait until what `add` left in the queue is learned, or has failed for good. Returns what came of it."""
        return await self._adding.settle(added)

    def _owned(self, user: object) -> Scope:
        return Scope(self._parts.options.tenant, parse_optional_name(user, name="user"))
