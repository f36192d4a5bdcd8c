"""What happens around a recall in a full store: when others grow, on a user's first question, right after a write."""

from collections.abc import Sequence

from bench.divisions import Division
from bench.figures import Figure, Goal, slower, timed
from bench.material import Question
from bench.ours import fill, opening
from bench.scale import RESERVE, WARM, Bench
from bench.timing import Call, Effort, Times, blocking, in_turns
from commonplace import AsyncMemory, Memory

FIRST = 10
"""Users who have not asked anything yet."""
WRITE = "a write"


async def figures(bench: Bench, division: Division, *, section: str, total: int) -> list[Figure]:
    each = total // division.users
    case = f"a user with {each:,} items"
    bench.say(f"{section}: with few and with many neighbours")
    times = await _crowds(bench, division, section=section, total=total)
    few, many = times
    return [
        *timed(section, case, times),
        slower(section, case, times, many, few, goal=Goal(at_most=1.5)),
        *timed(section, case, await _other_ways(bench, division, section=section, total=total)),
        *timed(section, case, await _first_questions(bench, division, total=total)),
    ]


async def _crowds(bench: Bench, division: Division, *, section: str, total: int) -> dict[str, Times]:
    """Ask the same user's questions in two ledgers: one with a tenth of the neighbours, and the full one."""
    each, users = total // division.users, max(2, division.users // 10)
    async with opening(bench.folder / section / "few", bench.material) as quiet:
        await fill(quiet, bench.material, [(str(user), division.mine(user, 0, total)) for user in range(users)])
        asked = bench.asked(division.mine(0, 0, total))
        contestants = {
            f"{users * each:,} items in all": _recall(quiet, asked),
            f"{total:,} items in all": _recall(division.memory, asked),
        }
        return await in_turns(contestants, bench.scale.effort, warm=WARM)


async def _other_ways(bench: Bench, division: Division, *, section: str, total: int) -> dict[str, Times]:
    memory, material = division.memory, bench.material
    mine = division.mine(0, 0, total)
    asked, fresh = bench.asked(mine), iter(material.texts[-RESERVE // 2 :])

    async def write(_: int) -> object:
        return await memory.add(next(fresh), user="1", session="now", learn=False)

    with Memory.open(
        bench.folder / section / "ours", tenant=division.tenant, embedder=material.embed, index="exact"
    ) as other:
        contestants: dict[str, Call] = {
            "asked again": _recall(memory, asked),
            "asked again, blocking": blocking(lambda turn: other.recall(asked[turn].text, user="0")),
            WRITE: write,
            "asked right after a write": _recall(memory, bench.asked(division.mine(1, 0, total)), user="1"),
        }
        times = await in_turns(contestants, bench.scale.effort, warm=WARM)
    return {name: spent for name, spent in times.items() if name != WRITE}


async def _first_questions(bench: Bench, division: Division, *, total: int) -> dict[str, Times]:
    strangers = range(division.watched, division.users)[:FIRST]
    asked = [bench.asked(division.mine(user, 0, total), 1)[0] for user in strangers]
    effort = Effort(rounds=len(strangers), seconds=bench.scale.effort.seconds)

    async def first(turn: int) -> object:
        return await division.memory.recall(asked[turn].text, user=str(strangers[turn]))

    return await in_turns({"asked for the first time": first}, effort, warm=0)


def _recall(memory: AsyncMemory, asked: Sequence[Question], *, user: str = "0") -> Call:
    return lambda turn: memory.recall(asked[turn].text, user=user)
