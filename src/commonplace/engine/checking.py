"""What a doctor looks for among attachments: messages without their file, and files without a message."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from commonplace.domain.errors import StoreUnavailable
from commonplace.domain.results import Finding
from commonplace.domain.values import AttachmentId
from commonplace.engine.attaching import Attaching
from commonplace.engine.parts import Parts
from commonplace.ports.attachments import Kept

WAITING = timedelta(days=1)
"""A file may be kept for so long before the message that carries it is added."""


async def check_attachments(parts: Parts, attaching: Attaching, *, repair: bool) -> Sequence[Finding]:
    """Compare the ledger with the store. A repair removes files that are nobody's; what is missing it cannot mend."""
    if not attaching.has_store:
        return ()
    try:
        return await _check(parts, attaching, repair=repair)
    except StoreUnavailable as error:
        return (Finding(check="attachments", severity="warning", message=f"not looked at: {error}"),)


async def _check(parts: Parts, attaching: Attaching, *, repair: bool) -> Sequence[Finding]:
    scopes = [*await parts.ledger.scopes(parts.options.tenant)]
    missing: list[AttachmentId] = []
    unused: dict[str, Mapping[AttachmentId, Kept]] = dict(await attaching.orphans(scopes))
    for scope in scopes:
        carried, there = await parts.ledger.attachments(scope), await attaching.files(scope)
        missing += [id_ for id_ in carried if id_ not in there]
        unused[attaching.namespace(scope)] = {id_: kept for id_, kept in there.items() if id_ not in carried}
    before = parts.now() - WAITING
    old = {name: [id_ for id_, kept in files.items() if kept.at < before] for name, files in unused.items()}
    if repair:
        for name, ids in old.items():
            if ids:
                await attaching.remove(name, ids)
    return list(_findings(missing, sum(map(len, old.values())), repair=repair))


def _findings(missing: Sequence[AttachmentId], orphans: int, *, repair: bool) -> Iterator[Finding]:
    if missing:
        yield Finding(
            check="attachments",
            severity="error",
            message=f"{len(missing)} attachments have no file, e.g. {missing[0]}",
            means="their messages are whole, but the files cannot be had; restore a snapshot beside, and copy them",
        )
    if orphans:
        yield Finding(
            check="attachments",
            severity="warning",
            message=f"{orphans} files belong to no message",
            means="they were uploaded and never used; a repair overwrites and removes them",
            repaired=repair,
        )
