"""The files of an archive: out as pieces between its records, and in again, before the messages that carry them."""

import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Sequence

from commonplace.domain.archive import Archived, FilePiece, OfTenant, OfUser, Record
from commonplace.domain.errors import InvalidInput, NotFound
from commonplace.domain.offers import parse_id
from commonplace.domain.scope import Scope
from commonplace.domain.values import AttachmentId
from commonplace.engine.attaching import Attaching
from commonplace.engine.intake import Intake
from commonplace.ports.ledger import Ledger

LOG = logging.getLogger(__name__)
Lost = Callable[[Scope, AttachmentId], None]
SIZE = 256 << 10
"""Bytes of one piece."""


async def with_files(
    batches: AsyncIterable[Sequence[Record]],
    ledger: Ledger,
    attaching: Attaching,
    lost: Lost | None = None,
) -> AsyncGenerator[Sequence[Archived], None]:
    """Yield an archive with each user's files after the mark of that user. What was forgotten meanwhile is left out.

    `lost` is told of a file that a message still carries and that is not there; without it, the log is.
    """
    tenant, told = "", lost or _Warned(attaching.place)
    async for batch in batches:
        start = 0
        for place, record in enumerate(batch):
            if isinstance(record, OfTenant):
                tenant = record.tenant
            elif isinstance(record, OfUser) and attaching.has_store:
                scope = Scope(tenant, record.user)
                carried = await ledger.attachments(scope)
                if carried:
                    yield batch[start : place + 1]
                    start = place + 1
                async for piece in _of_user(ledger, attaching, scope, carried, told):
                    yield [piece]
        yield batch[start:]


async def _of_user(
    ledger: Ledger, attaching: Attaching, scope: Scope, carried: Iterable[AttachmentId], lost: Lost
) -> AsyncGenerator[FilePiece, None]:
    for id_ in carried:
        found = False
        async for piece in _pieces(attaching, scope, id_):
            found = True
            yield piece
        if not found and await ledger.attachments(scope, [id_]):
            lost(scope, id_)


class _Warned:
    """Says once where files were looked for."""

    def __init__(self, place: str) -> None:
        self._place: str | None = place

    def __call__(self, scope: Scope, id_: AttachmentId) -> None:
        if self._place is not None:
            LOG.warning("attachments that have no file in %s are left out: see `commonplace doctor`", self._place)
        self._place = None


async def _pieces(attaching: Attaching, scope: Scope, id_: AttachmentId) -> AsyncGenerator[FilePiece, None]:
    start, waiting = 0, b""
    try:
        async for chunk in attaching.open(scope, id_):
            waiting += chunk
            while len(waiting) > SIZE:
                yield FilePiece(id=id_, start=start, data=waiting[:SIZE], last=False)
                start, waiting = start + SIZE, waiting[SIZE:]
    except NotFound:
        return
    yield FilePiece(id=id_, start=start, data=waiting, last=True)


class Pieces:
    """Puts files together from their pieces, which come in order, one file after the other."""

    def __init__(self, attaching: Attaching, *, limited: bool = False) -> None:
        """`limited` takes no file that is larger than one may be here: of a memory's own, all are taken."""
        self._attaching, self._limited = attaching, limited
        self._intake: Intake | None = None
        self._scope: Scope | None = None

    async def take(self, scope: Scope, piece: FilePiece) -> bool:
        """Return whether a file is complete. Raises InvalidInput for a piece that does not fit, or too large a file."""
        parse_id(piece.id)
        if piece.start == 0:
            await self.give_up()
            self._intake, self._scope = await self._attaching.begin(scope, limited=self._limited), scope
        intake = self._intake
        if intake is None or intake.size != piece.start or self._scope != scope:
            raise InvalidInput(f"file {piece.id}: a piece of it is missing before byte {piece.start}")
        try:
            await intake.write(piece.data)
            if not piece.last:
                return False
            await _kept(intake, piece)
        except BaseException:
            await self.give_up()
            raise
        self._intake = None
        return True

    async def give_up(self) -> None:
        """Leave nothing of a file that is not complete."""
        intake, self._intake = self._intake, None
        if intake is not None:
            await intake.abandon()


async def _kept(intake: Intake, piece: FilePiece) -> None:
    if intake.id != piece.id:
        raise InvalidInput(f"file {piece.id}: its bytes are not those that were kept")
    await intake.keep()
