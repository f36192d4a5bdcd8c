"""What a doctor looks at beside the indexes: the ledger itself, the queue, the model, and the folder."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from commonplace.domain.results import Finding
from commonplace.engine.parts import Parts
from commonplace.ports.jobs import Job

STALE = timedelta(hours=1)
"""A job that is due for longer is nobody's work."""
LISTED = 10_000
CHECKS = ("ledger", "full text", "sessions", "queue", "model", "permissions", "files", "space")
MEANS = {
    "ledger": "the truth itself is damaged: nothing mends it but a snapshot (commonplace restore)",
    "full text": "a user too large for RAM may miss words; it is built again when it is next needed",
    "sessions": "states of sessions that are over lie about until they are cleaned",
}


class Examining:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def examine(self, *, repair: bool) -> Sequence[Finding]:
        found = [
            Finding(
                check=one.check,
                severity=one.severity,
                message=one.message,
                means=MEANS.get(one.check, ""),
                repaired=one.repaired,
            )
            for one in await self._parts.ledger.check(now=self._parts.now(), repair=repair)
        ]
        found += await self._queue()
        found += await self._model()
        if self._parts.premises is not None:
            found += await self._parts.premises.inspect(repair=repair)
        return found

    async def _queue(self) -> Sequence[Finding]:
        jobs = await self._parts.ledger.jobs(self._parts.options.tenant, limit=LISTED)
        return list(self._of_queue(jobs))

    def _of_queue(self, jobs: Sequence[Job]) -> Iterator[Finding]:
        late = [job for job in jobs if job.status == "queued" and job.run_at < self._parts.now() - STALE]
        dead = [job for job in jobs if job.status == "dead"]
        if late:
            yield Finding(
                check="queue",
                severity="warning",
                message=f"{len(late)} messages wait to be learned from, one since {late[0].run_at:%Y-%m-%d %H:%M}",
                means="nobody works: keep the memory open, or run `commonplace worker`",
            )
        if dead:
            yield Finding(
                check="queue",
                severity="warning",
                message=f"learning from {len(dead)} messages failed for good, e.g.: {dead[0].error}",
                means="they are kept and found, but taught nothing; `commonplace learn --failed --replay` tries again",
            )

    async def _model(self) -> Sequence[Finding]:
        recorded, ours = await self._parts.ledger.embedder_identity(), self._parts.embedder.identity
        if recorded in (None, ours):
            return ()
        return (
            Finding(
                check="model",
                severity="error",
                message=f"the vectors are of {recorded!r}, and the embedder is {ours!r}",
                means="questions and memories are measured differently; open it with its own model",
            ),
        )
