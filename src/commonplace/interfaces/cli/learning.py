"""Commands about learning: what waits and what failed, learning anew, and a process that does nothing else."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.results import JobInfo, Learning, Relearned
from commonplace.domain.values import Fact
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory, settings_of
from commonplace.interfaces.cli.options import Everywhere, OfUser
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen

LISTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What there is to learn from."""

    learning: Learning
    jobs: tuple[JobInfo, ...]
    replayed: int = 0


def learn(
    call: Everywhere,
    failed: Annotated[bool, typer.Option("--failed", help="Only what failed for good.")] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Try again what failed for good.")] = False,
) -> int:
    """Show what waits to be learned, and what failed."""
    with open_memory(call) as memory:
        jobs = tuple(memory.jobs(status="dead" if failed else None, limit=LISTED))
        replayed = memory.replay() if replay else 0
        queue = Queue(learning=memory.stats().learning, jobs=jobs, replayed=replayed)
    Output(call).answer(queue, lambda screen: _tell_queue(screen, queue))
    return Exit.NO if failed and jobs and not replay else Exit.OK


def _tell_queue(screen: "Screen", queue: Queue) -> None:
    usage, budget = queue.learning.usage, queue.learning.tokens_per_day
    limit = f" of {budget:,}" if budget is not None else ""
    cost = f" for {queue.learning.cost:,.4f}" if queue.learning.cost is not None else ""
    screen.say(
        f"Today: {usage.requests:,} requests, {usage.tokens:,}{limit} tokens{cost}, {usage.ungrounded:,} claims "
        "dropped because their message does not say them."
    )
    if queue.learning.paused:
        screen.say(queue.learning.paused, style="yellow")
    if not queue.jobs:
        screen.say("Nothing waits.")
        return
    rows = [
        [job.status, job.user or "(anonymous)", job.message, str(job.attempts), shown(job.run_at) or "", job.error]
        for job in queue.jobs
    ]
    screen.table(["state", "user", "message", "tried", "due", "error"], rows, fixed=["state", "tried"])
    if queue.replayed:
        screen.say(
            f"Queued again: {queue.replayed}. A process with this memory open, or `commonplace worker`, tries them."
        )


def relearn(
    call: OfUser,
    apply: Annotated[bool, typer.Option("--apply", help="Write it. Without it: only show it.")] = False,
) -> None:
    """Learn everything anew, and show what changes."""
    with open_memory(call) as memory:
        done = memory.relearn(user=call.user, apply=apply)
    Output(call).answer(done, lambda screen: _tell_relearned(screen, done))


def _tell_relearned(screen: "Screen", done: Relearned) -> None:
    entries = [
        *(("+", fact.text, [_dates(fact)]) for fact in done.added),
        *(("-", fact.text, [_dates(fact)]) for fact in done.removed),
        *(("~", new.text, [_dates(new), f"was: {old.text} {_dates(old)}"]) for old, new in done.changed),
    ]
    screen.entries(entries)
    if not entries:
        screen.say(f"Read {done.messages:,} messages with {done.extractor}: nothing changes.")
        return
    counts = f"{len(done.added):,} added, {len(done.removed):,} removed, {len(done.changed):,} changed"
    outcome = "Written." if done.applied else "Nothing is written yet: --apply does it."
    screen.say(f"Read {done.messages:,} messages with {done.extractor}: {counts}. {outcome}")


def _dates(fact: Fact) -> str:
    begin = f"from {shown(fact.valid_from)}" if fact.valid_from else ""
    return " ".join(part for part in (begin, f"until {shown(fact.valid_to)}" if fact.valid_to else "") if part)


def worker(call: Everywhere) -> None:
    """Learn from what waits, until it is told to stop.

    Of every tenant that has a key; with --tenant, of one.
    """
    from commonplace.interfaces.cli.labour import work

    output = Output(call)
    told = "Learning from what waits. SIGTERM or Ctrl-C ends it; what is under way is handed back."
    asyncio.run(work(settings_of(call), call.overrides(), one=call.tenant is not None, begun=lambda: output.note(told)))
    output.note("Stopped.")
