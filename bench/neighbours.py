"""What happens around a recall in a full store: when others grow, on a user's first question, right after a write."""

from bench.divisions import Division
from bench.figures import Figure, Goal, slower, timed
from bench.ours import fill, opening
from bench.scale import Bench
from bench.timing import Call, Effort, blocking, in_turns
from commonplace import AsyncMemory, Memory

FIRST = 10
"""Users who have not asked anything yet."""


async def figures(bench: Bench, division: Division, *, section: str, total: int) -> list[Figure]:
    each = total // division.users
    crowds = max(2, division.users // 10)
    case = f"a user with {each:,} items"
    bench.say(f"{section}: with few and with many neighbours")
    async with opening(bench.folder / section / "few", bench.material) as quiet:
        await fill(quiet, bench.material, [(str(user), division.mine(user, 0, total)) for user in range(crowds)])
        few, many = f"{crowds * each:,} items in all", f"{total:,} items in all"
        times = await in_turns({few: _recall(bench, quiet), many: _recall(bench, division.memory)}, bench.scale.effort)
    found = [*timed(section, case, times), slower(section, case, times, many, few, goal=Goal(at_most=1.5))]
    return [*found, *await _other_ways(bench, division, section=section, case=case)]


async def _other_ways(bench: Bench, division: Division, *, section: str, case: str) -> list[Figure]:
    memory, material = division.memory, bench.material
    fresh = iter(range(len(material.texts) - 1, 0, -1))

    async def after_write(turn: int) -> object:
        return await memory.recall(material.questions[bench.question()], user="1")

    async def write(turn: int) -> object:
        return await memory.add(material.texts[next(fresh)], user="1", session="now", learn=False)

    with Memory.open(
        bench.folder / section / "ours", tenant=division.tenant, embedder=material.embed, index="exact"
    ) as other:
        contestants: dict[str, Call] = {
            "asked again": _recall(bench, memory),
            "asked again, blocking": blocking(
                lambda turn: other.recall(material.questions[bench.question()], user="0")
            ),
            "a write": write,
            "asked right after a write": after_write,
        }
        times = await in_turns(contestants, bench.scale.effort)
    last = division.users - 1
    first = await in_turns(
        {
            "asked for the first time": lambda turn: memory.recall(
                material.questions[bench.question()], user=str(last - turn)
            )
        },
        Effort(rounds=min(FIRST, division.users - division.watched), seconds=bench.scale.effort.seconds, least=1),
        warm=0,
    )
    return timed(section, case, {name: spent for name, spent in (times | first).items() if name != "a write"})


def _recall(bench: Bench, memory: AsyncMemory) -> Call:
    return lambda _: memory.recall(bench.material.questions[bench.question()], user="0")
