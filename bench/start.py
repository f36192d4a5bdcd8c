"""What starting costs: whole processes, as multiples of a Python that does nothing."""

import subprocess
import sys
from collections.abc import Sequence

from bench import child
from bench.figures import Figure, Goal, Section, slower, timed
from bench.ours import fill, opening
from bench.scale import Bench
from bench.timing import Call, Effort, blocking, in_turns

NAME = "start"
NOTHING, NUMPY, IMPORT, HELP, MODEL = (
    "python -c pass",
    "import numpy",
    "import commonplace",
    "commonplace --help",
    "load the local model, embed a sentence",
)
SECONDS = {IMPORT: 0.2, HELP: 0.4}


async def run(bench: Bench) -> Section:
    held, dimensions = bench.scale.items, bench.scale.dimensions
    folder = bench.folder / NAME
    bench.say(f"start: {held:,} items")
    async with opening(folder, bench.material) as memory:
        await fill(memory, bench.material, [("0", range(held))])
    recall = f"first recall on {held:,} items of one user"
    commands = {
        NOTHING: [sys.executable, "-c", "pass"],
        NUMPY: [sys.executable, "-c", "import numpy"],
        IMPORT: [sys.executable, "-c", "import commonplace"],
        HELP: [sys.executable, "-m", "commonplace.interfaces.cli", "--help"],
        recall: child.command(child.first_recall, folder, dimensions),
        MODEL: child.command(child.first_embedding),
    }
    notes: tuple[str, ...] = ()
    if not (bench.scale.model and _works(commands[MODEL])):
        del commands[MODEL]
        notes = ("The local model was not started: is it there? `commonplace model fetch` gets it.",)
    bench.say("start: processes in turns")
    effort = Effort(rounds=bench.scale.starts, seconds=60)
    times = await in_turns(
        {name: _process(words) for name, words in commands.items()}, effort, warm=min(1, bench.scale.starts - 1)
    )
    figures: list[Figure] = timed(NAME, "a new process", times)
    figures += [slower(NAME, "a new process", times, name, NOTHING) for name in times if name != NOTHING]
    limits = SECONDS | {recall: 2.0}
    figures += [
        Figure(
            section=NAME,
            case="a new process",
            who=f"{name}: more than {NOTHING}",
            value=times[name].p50 - times[NOTHING].p50,
            p10=times[name].p10 - times[NOTHING].p10,
            goal=Goal(at_most=1_000 * limits[name]),
        )
        for name in times
        if name in limits
    ]
    return Section(name=NAME, title="start: whole processes", figures=tuple(figures), notes=notes)


def _process(words: Sequence[str]) -> Call:
    return blocking(lambda _: subprocess.run(words, cwd=child.ROOT, check=True, capture_output=True))


def _works(words: Sequence[str]) -> bool:
    return subprocess.run(words, cwd=child.ROOT, check=False, capture_output=True).returncode == 0
