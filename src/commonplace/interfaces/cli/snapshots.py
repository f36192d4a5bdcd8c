"""Commands about snapshots: snapshot create, list, verify, prune; and restore."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import commonplace
from commonplace.domain.snapshots import Pruned, Restored, Snapshot, Verified
from commonplace.interfaces.cli.exits import Exit
from commonplace.interfaces.cli.opening import open_memory, settings_of
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen

Place = Annotated[str | None, typer.Option(metavar="PLACE", help="A folder or s3://bucket/prefix.")]
KeyFile = Annotated[Path | None, typer.Option(help="The key it is encrypted with.", dir_okay=False)]


def _key(file: Path | None) -> dict[str, object]:
    return {} if file is None else {"snapshot_key_file": file}


def create(call: Everywhere, to: Place = None, key_file: KeyFile = None) -> None:
    """Write everything to a folder or bucket."""
    output = Output(call)
    with open_memory(call, **_key(key_file)) as memory, output.progress() as report:
        made = memory.snapshot(to, progress=report)
    output.answer(made, lambda screen: _tell_snapshots(screen, [made]))


def list_snapshots(call: Everywhere, at: Place = None) -> None:
    """List what is there."""
    with open_memory(call) as memory:
        found = memory.snapshots(at)
    Output(call).answer(found, lambda screen: _tell_snapshots(screen, found))


def _tell_snapshots(screen: "Screen", found: list[Snapshot]) -> None:
    if not found:
        screen.say("No snapshots.")
        return
    rows = [
        [
            one.name,
            shown(one.made_at) or "",
            f"{one.counts.get('messages', 0):,}",
            f"{one.counts.get('fact_versions', 0):,}",
            f"{one.bytes:,}",
            "yes" if one.encrypted else "no",
        ]
        for one in found
    ]
    screen.table(["name", "made", "messages", "facts", "bytes", "encrypted"], rows, fixed=["name"])


def verify(
    call: Everywhere,
    name: Annotated[str, typer.Argument(help="The name of a snapshot, or latest.")] = "latest",
    at: Place = None,
    key_file: KeyFile = None,
) -> int:
    """Read every byte and compare it with what was saved."""
    output = Output(call)
    with open_memory(call, **_key(key_file)) as memory, output.progress() as report:
        verified = memory.verify_snapshot(name, at=at, progress=report)
    output.answer(verified, lambda screen: _tell_verified(screen, verified))
    return Exit.OK if verified.whole else Exit.NO


def _tell_verified(screen: "Screen", verified: Verified) -> None:
    for problem in verified.problems:
        screen.say(problem, style="red")
    if verified.whole:
        screen.say(f"{verified.name} is whole: {verified.records:,} records, {verified.bytes:,} bytes.", style="green")


def prune(
    call: Everywhere,
    at: Place = None,
    keep: Annotated[int | None, typer.Option(min=1, help="Keep so many of the latest.")] = None,
    older_than_days: Annotated[float | None, typer.Option(min=0, help="Remove only what is older.")] = None,
) -> None:
    """Remove old ones; the latest always stays."""
    with open_memory(call) as memory:
        pruned = memory.prune_snapshots(at=at, keep=keep, older_than_days=older_than_days)
    Output(call).answer(pruned, lambda screen: _tell_pruned(screen, pruned))


def _tell_pruned(screen: "Screen", pruned: Pruned) -> None:
    screen.say(f"Removed {len(pruned.removed):,}, kept {len(pruned.kept):,}.")
    if pruned.unfinished:
        screen.say(f"Removed what {len(pruned.unfinished):,} that were broken off had left.")


def restore(
    call: Everywhere,
    into: Annotated[str, typer.Option(metavar="FOLDER", help="A new folder, or the URL of an empty database.")],
    name: Annotated[str, typer.Argument(help="The name of a snapshot, or latest.")] = "latest",
    source: Annotated[str | None, typer.Option("--from", metavar="PLACE", help="Where it is kept.")] = None,
    key_file: KeyFile = None,
) -> None:
    """Bring a snapshot back, into a new folder or database."""
    output, place = Output(call), source or settings_of(call).snapshot_place
    if place is None:
        raise typer.BadParameter("expected the folder or s3://bucket/prefix that has it", param_hint="--from")
    given = {**call.of_every_tenant(), **_key(key_file)}  # of these, home is where a server's attachments go
    with output.progress() as report:
        done = commonplace.Memory.restore_snapshot(place, into, name=name, progress=report, **given)
    output.answer(done, lambda screen: _tell_restored(screen, done))


def _tell_restored(screen: "Screen", done: Restored) -> None:
    counted = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in done.counts.items())
    screen.say(f"Restored {done.name} into {done.into}: {counted or 'nothing'}. Counts and hashes agree.")
    if done.erased:
        screen.say(f"Forgot again what {done.erased:,} erasures had removed since.")
