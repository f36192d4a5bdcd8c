"""commonplace migrate-embeddings: another embedding model, while the memory is in use."""

from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.embeddings import Embeddings, Migrated
from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.cli.opening import open_memory
from commonplace.interfaces.cli.options import Everywhere
from commonplace.interfaces.cli.output import Output

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen


def migrate_embeddings(
    call: Everywhere,
    to: Annotated[
        str | None, typer.Option("--to", help="The new model: local, local:FOLDER, or PROVIDER:MODEL as openai:….")
    ] = None,
    build_only: Annotated[
        bool, typer.Option("--build-only", help="Make and compare the vectors; do not switch.")
    ] = False,
    least_overlap: Annotated[
        float,
        typer.Option("--least-overlap", help="Switch only if the models agree on so much of the nearest, 0 to 1."),
    ] = 0.2,
    roll_back: Annotated[bool, typer.Option("--roll-back", help="Go back to the model before.")] = False,
    discard: Annotated[bool, typer.Option("--discard", help="Remove the vectors that are not in use.")] = False,
) -> None:
    """Change the embedding model while everything goes on. Cut short, the same command goes on where it stopped.

    Without --to: say whose vectors are in use, and whether there are others beside them.
    """
    if sum([to is not None, roll_back, discard]) > 1:
        raise InvalidInput("expected one of --to, --roll-back and --discard")
    output = Output(call)
    with open_memory(call) as memory, output.progress() as report:
        if to is not None:
            done = memory.migrate_embeddings(to=to, switch=not build_only, least_overlap=least_overlap, progress=report)
        elif roll_back:
            done = memory.roll_back_embeddings(progress=report)
        else:
            removed = memory.discard_embeddings(progress=report) if discard else None
            state = memory.embeddings()
            output.answer(state, lambda screen: _tell_state(screen, state, removed))
            return
    output.answer(done, lambda screen: _tell(screen, done))


def _tell(screen: "Screen", done: Migrated) -> None:
    share = (
        "" if done.overlap is None else f" The two agree on {done.overlap:.0%} of the nearest ({done.sampled} tried)."
    )
    screen.say(f"Made {done.embedded:,} vectors for {done.rows:,} items.{share}")
    if done.left_alone:
        screen.say(f"{done.left_alone:,} users have a model of their own (embedding_models) and were left alone.")
    if done.switched:
        screen.say(f"In use now: {done.after}. The vectors of {done.before} are kept: --roll-back goes back to them.")
    elif done.before == done.after:
        screen.say(f"In use: {done.after}.")


def _tell_state(screen: "Screen", state: Embeddings, removed: int | None) -> None:
    if removed is not None:
        screen.say(f"Removed {removed:,} vectors.")
    screen.say(f"In use: {state.model} ({state.dimensions} numbers a vector).")
    if state.aside is not None:
        told = {
            "building": "being made: the same --to goes on with it",
            "kept": "kept: --roll-back goes back to them, --discard removes them",
            "clearing": "being removed: --discard goes on with it",
        }
        screen.say(f"Aside: {state.aside.rows:,} vectors of {state.aside.model}, {told[state.aside.state]}.")
