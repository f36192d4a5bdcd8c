"""Commands that look after a memory: stats, doctor, reindex."""

from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.results import Checkup, Profile, Stats
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import Everywhere, OfUser
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


def stats(call: OfUser) -> None:
    """Show what there is, and what answers which user.

    With --user: that user at a glance.
    """
    output = Output(call)
    with open_memory(call) as memory:
        if call.user is not None:
            profile = memory.profile(user=call.user)
            output.answer(profile, lambda screen: _tell_profile(screen, profile))
            return
        figures = memory.stats()
    output.answer(figures, lambda screen: _tell_stats(screen, figures))


def _tell_stats(screen: "Screen", figures: Stats) -> None:
    rows = [
        ["tenant", figures.tenant],
        *([name.replace("_", " "), f"{count:,}"] for name, count in figures.counts.items()),
    ]
    rows += [
        ["on disk", f"{figures.bytes_on_disk:,} bytes"],
        ["embedder", figures.embedder],
        *(["embedder of their own", f"{model}: {users:,} users"] for model, users in figures.own_embedders.items()),
        ["index", f"{figures.index} (exact up to {figures.exact_up_to:,})"],
    ]
    rows += [[f"jobs {status}", f"{count:,}"] for status, count in figures.jobs.items()]
    rows += [[f"cache {name}", f"{count:,}"] for name, count in figures.cache.items()]
    rows += [[f"index {name}", f"{count:,}"] for name, count in figures.index_calls.items()]
    rows += [[f"redis {name}", f"{count:,}"] for name, count in figures.copies.items()]
    screen.table(["what", "how much"], rows, fixed=["what"])
    if figures.partitions:
        screen.say()
        users = [
            [part.user or "(anonymous)", f"{part.rows:,}", part.answered_by, f"{part.waiting:,}"]
            for part in figures.partitions
        ]
        screen.table(["user", "items", "answered by", "waiting"], users, fixed=["items", "waiting"])


def _tell_profile(screen: "Screen", profile: Profile) -> None:
    rows = [
        ["user", profile.user or "(anonymous)"],
        ["messages", f"{profile.messages:,}"],
        ["facts", f"{profile.facts:,}"],
        ["blocks", f"{profile.blocks:,}"],
        ["last seen", shown(profile.last_seen) or "never"],
        *(["session", session.id] for session in profile.sessions),
        *(["fact", fact.text] for fact in profile.sample),
    ]
    screen.table(["what", "how much"], rows, fixed=["what"])


def doctor(
    call: Everywhere,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
) -> int:
    """Look for drift between ledger, caches and index."""
    with open_memory(call) as memory:
        checkup = memory.doctor(repair=repair)
    Output(call).answer(checkup, lambda screen: _tell_checkup(screen, checkup))
    return Exit.OK if checkup.healthy else Exit.NO


def _tell_checkup(screen: "Screen", checkup: Checkup) -> None:
    if checkup.findings:
        rows = [
            [
                finding.check,
                "repaired" if finding.repaired else finding.severity,
                f"{finding.message}: {finding.means}" if finding.means else finding.message,
            ]
            for finding in checkup.findings
        ]
        screen.table(["check", "state", "finding"], rows, fixed=["check", "state"])
    verdict = "All is well." if checkup.healthy else "Not all is well; --repair mends what can be mended."
    screen.say(f"{verdict} Checked: {', '.join(checkup.checks)}.", style="green" if checkup.healthy else "red")


def reindex(
    call: Everywhere,
    embed: Annotated[bool, typer.Option("--embed", help="Make every vector anew, too.")] = False,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only this user's. Without it: everybody's.")] = None,
) -> None:
    """Build every index anew from the ledger."""
    output, users = Output(call), None if user is None else [user]
    anew = {"replace_vectors": True} if embed and user is None else {}
    with open_memory(call, **anew) as memory, output.progress() as report:
        report("Reindexing", 0, None)
        done = memory.reindex(embed=embed, users=users)
    output.answer(
        done,
        lambda screen: screen.say(
            f"Indexed {done.rows:,} items, embedded {done.embedded:,}, filled {done.collections:,} collections."
        ),
    )
