"""Recall of one user with the question's embedding given, among ever more items and users.

Commonplace answers with all it has: words and vectors fused, texts read from the ledger. The others look up vectors.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from bench import neighbours
from bench.divisions import Division, tenant_of
from bench.figures import Figure, Goal, Section, faster, slower, timed
from bench.material import Question
from bench.ours import dense_recall, opening
from bench.rivals import Chroma, chroma
from bench.scale import WARM, Bench
from bench.timing import Call, Effort, blocking, in_turns

NAME = "search"
CHECKED = 10
"""Questions by which the nearest found are compared with the truly nearest."""
OURS, SHARED, OWN, FLOOR = "Commonplace", "Chroma, where user", "Chroma, collection per user", "numpy (floor)"
GOAL = (1_000, 100_000)
"""Items of the user, and in all."""
NOBODY = -1


async def run(bench: Bench) -> Section:
    figures: list[Figure] = []
    async with AsyncExitStack() as stack:
        divisions = await _divisions(bench, stack)
        loaded = 0
        for total in bench.scale.totals:
            await _grow(bench, divisions, loaded, total)
            loaded = total
            for division in divisions:
                if total >= division.users:
                    figures += await _case(bench, division, total)
            figures += await _adds(bench, divisions[0], total)
        figures += await neighbours.figures(bench, divisions[1], section=NAME, total=loaded)
    return Section(
        name=NAME,
        title="recall: one user, the best 10, the question's embedding given",
        figures=tuple(figures),
        notes=("Commonplace searches words as well, fuses both arms and reads the texts; the others look up vectors.",),
    )


async def _divisions(bench: Bench, stack: AsyncExitStack) -> list[Division]:
    client = chroma(bench.folder / NAME / "chroma")
    shared = Chroma(client, "shared")
    divisions = []
    for users in bench.scale.users:
        memory = await stack.enter_async_context(
            opening(bench.folder / NAME / "ours", bench.material, tenant=tenant_of(users))
        )
        division = Division(users=users, memory=memory, shared=shared, own=())
        if users > 1:
            division.own = [Chroma(client, f"own-{users}-{n}") for n in range(division.watched)]
        divisions.append(division)
    return divisions


async def _grow(bench: Bench, divisions: Sequence[Division], start: int, stop: int) -> None:
    material, numbers = bench.material, range(start, stop)
    bench.say(f"search: growing the Chroma collection to {stop:,}")
    metadata = [{division.tenant: n % division.users for division in divisions} for n in numbers]
    divisions[0].shared.load(numbers, material.vectors[start:stop], material.texts[start:stop], metadata)
    for division in divisions:
        bench.say(f"search: growing {division.users:,} users to {stop:,} items")
        await division.grow(bench, start, stop)


async def _case(bench: Bench, division: Division, total: int) -> list[Figure]:
    each, people = total // division.users, "1 user" if division.users == 1 else f"{division.users:,} users"
    case = f"{each:,} of {total:,} items, {people}"
    bench.say(f"search: {case}")
    times = await in_turns(_contestants(bench, division, total), bench.scale.effort, warm=WARM)
    return [
        *timed(NAME, case, times, line=f"recall, {people}", at=total),
        faster(NAME, case, times, OURS, SHARED, goal=Goal(at_least=20) if (each, total) == GOAL else None),
        faster(NAME, case, times, OURS, OWN),
        slower(NAME, case, times, OURS, FLOOR),
        *await _found(bench, division, case, total),
    ]


def _contestants(bench: Bench, division: Division, total: int) -> dict[str, Call]:
    watched = division.watched
    of_each = [bench.asked(division.mine(user, 0, total)) for user in range(watched)]

    def question(turn: int) -> Question:
        return of_each[turn % watched][turn]

    def alone(turn: int) -> list[int]:
        return (division.own[turn % watched] if division.own else division.shared).search(question(turn).vector)

    return {
        OURS: lambda turn: division.memory.recall(question(turn).text, user=str(turn % watched)),
        SHARED: blocking(
            lambda turn: division.shared.search(question(turn).vector, where=division.where(turn % watched))
        ),
        OWN: blocking(alone),
        FLOOR: blocking(lambda turn: division.floors[turn % watched].search(question(turn).vector)),
    }


async def _found(bench: Bench, division: Division, case: str, total: int) -> list[Figure]:
    """Return which share of the truly nearest each finds among its first ten."""
    floor, asked = division.floors[0], bench.asked(division.mine(0, 0, total), CHECKED)
    right = wanted = 0
    for question in asked:
        best = floor.search(question.vector)
        right += len({*best} & {*division.shared.search(question.vector, where=division.where(0))})
        wanted += len(best)
    ours = await dense_recall(division.memory, floor, user="0", questions=asked)
    answers = [len(await division.memory.recall(question.text, user="0")) for question in asked]
    about = partial(Figure, section=NAME, case=case)
    return [
        about(who=f"{OURS}: recall@10 of the dense arm", value=ours, unit="share", goal=Goal(at_least=1.0)),
        about(who=f"{SHARED}: recall@10", value=right / wanted, unit="share"),
        about(who=f"{OURS}: results of 10 that were relevant enough", value=sum(answers) / CHECKED, unit="items"),
    ]


async def _adds(bench: Bench, division: Division, total: int) -> list[Figure]:
    """Add a few items to the full stores: does the cost of a write grow with what is there?"""
    material, first = bench.material, max(bench.scale.totals) + 50 * bench.scale.totals.index(total)
    nobody = dict.fromkeys(map(tenant_of, bench.scale.users), NOBODY)

    def raw(turn: int) -> None:
        n = first + turn
        division.shared.add(n, material.vectors[n], material.texts[n], nobody)

    contestants: dict[str, Call] = {
        "Commonplace add": lambda turn: division.memory.add(material.texts[first + turn], user="new", learn=False),
        "Chroma add": blocking(raw),
    }
    bench.say(f"search: adding to {total:,} items")
    few = Effort(rounds=min(30, bench.scale.effort.rounds), seconds=bench.scale.effort.seconds)
    times = await in_turns(contestants, few, warm=WARM)
    return timed(NAME, f"add to {total:,} items", times, line="add", at=total)
