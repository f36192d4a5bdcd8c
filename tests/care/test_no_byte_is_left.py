"""What was forgotten is in no file of the folder, nor of the server: byte by byte, with an index in use."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import settings

from commonplace.domain.results import Recollection
from commonplace.domain.scope import Scope
from commonplace.engine.engine import Engine
from commonplace.engine.parts import Parts
from commonplace.recall.projector import collection_name
from tests.backends import Backend
from tests.care.folders import contents, forms, memory_of, parts_of, pieces, settle, traces
from tests.servers import database_of, run_sql

ANA, BEN = "qzvana", "wkbben"
"""Every word that only one of them uses begins with this."""
LETTERS = re.compile(rb"[a-z]{8,}")
pytestmark = pytest.mark.backends("ledgers")
QUESTIONS = ("what do I use for the garden", "tools", "when was it", "wkbbenword7", "")


@dataclass(frozen=True, slots=True)
class Site:
    """A memory, and every file that it writes, or has written for it."""

    place: dict[str, Any]
    server: tuple[Path, str] | None = None
    """The folder of the database server, and the URL of the database as its superuser."""

    @property
    def home(self) -> Path:
        return Path(self.place["home"])

    @property
    def indexes(self) -> Sequence[str]:
        return ("exact", "chroma" if self.server is None else "pgvector")

    def files(self) -> Mapping[str, bytes]:
        return contents(self.home) | (contents_of_server(*self.server) if self.server else {})

    def looked_at(self) -> None:
        """Let the server do what it does in time by itself: write its pages, and keep statistics of what is in them."""
        if self.server is not None:
            run_sql(self.server[1], "analyze", "checkpoint")


def contents_of_server(folder: Path, url: str) -> dict[str, bytes]:
    """Return all files but those of other databases."""
    with psycopg.connect(url) as connection:
        (own,) = connection.execute("select oid from pg_database where datname = current_database()").fetchone() or (0,)
    parts = [*(one for one in folder.iterdir() if one.is_dir() and one.name != "base"), folder / "base" / str(own)]
    return {f"{part.name}/{name}": data for part in parts for name, data in contents(part).items()}


@pytest.fixture
def site(backend: Backend, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    place: dict[str, Any] = {"home": tmp_path / "memory", **backend.settings}
    del place["index"]
    if backend.ledger == "sqlite":
        yield Site(place)
        return
    folder, server = request.getfixturevalue("postgres_files")
    run_sql(server, "create database memory owner app", "grant pg_checkpoint to app")
    url = database_of(server, "memory")
    run_sql(url, "create extension vector", "grant execute on function pg_switch_wal() to app")
    yield Site(place | {"database_url": database_of(server, "memory", user="app")}, (folder, url))
    run_sql(server, "drop database memory with (force)")


def words_of(user: str, count: int) -> list[str]:
    chance = random.Random(user)
    return [user + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(count)]


def sentences(words: Sequence[str]) -> list[str]:
    """Return one sentence for each two words. The rules learn a fact from one of three."""
    forms = ("I use {} as a tool for {}", "We saw {} near {} in the garden", "What about {} and {}, when was it?")
    pairs = zip(words[::2], words[1::2], strict=True)
    return [forms[n % 3].format(*pair) for n, pair in enumerate(pairs)]


async def tell(memory: Engine, user: str, texts: Sequence[str]) -> list[str]:
    ids: list[str] = []
    for start in range(0, len(texts), 100):
        session = f"{user}session{start}"
        batch = [{"role": "user", "content": text, "name": f"{user}name"} for text in texts[start : start + 100]]
        ids += (await memory.add(batch, user=user, session=session, metadata={"topic": f"{user}topic"})).messages
        await memory.session(session, user=user).update({"draft": f"{user}draft"})
    await memory.set_block("profile", f"{user}block", user=user)
    return ids


async def answers(memory: Engine, user: str) -> list[Recollection]:
    return [await memory.recall(question, user=user, limit=20, explain=True) for question in QUESTIONS]


async def vectors_of(parts: Parts, user: str) -> list[bytes]:
    feed = await parts.ledger.feed(Scope("default", user))
    vectors = [*(row.vector for row in feed.messages), *(row.vector for row in feed.facts)]
    return [vector for vector in vectors if vector is not None]


def held_by_chroma(folder: Path) -> list[bytes]:
    """Return pieces of Chroma's own vector files: it moves and scales vectors, so they differ from the ledger's.

    Where it has written nothing yet, there may be whatever the process held in memory: the schema of the ledger, too,
    which stays.
    """
    found = [data[at : at + 24] for name, data in contents(folder).items() for at in (3_000, 9_000) if "level0" in name]
    return [piece for piece in found if piece.count(0) < 8 and not re.search(rb"[a-z_]{6}", piece)]


async def tell_both(parts: Parts, memory: Engine, site: Site, words: Sequence[str]) -> list[bytes]:
    """Return pieces of the vectors of all that the first was told, as the ledger and as the index has them."""
    await tell(memory, ANA, sentences(words))
    vectors = pieces(await vectors_of(parts, ANA))
    await settle(memory)
    number = (await parts.ledger.versions(Scope("default", ANA))).number
    assert parts.index is not None
    assert len(await parts.index.numbers(collection_name(parts.ledger.name, number))) > len(words) / 2
    in_index = held_by_chroma(site.home)
    assert in_index or site.server
    await tell(memory, BEN, sentences(words_of(BEN, 300)))
    await settle(memory)
    site.looked_at()
    assert len(traces(site.files(), vectors[:50])) >= 50
    return [*vectors, *in_index]


async def check_a_whole_user(site: Site, messages: int) -> None:
    words, index = words_of(ANA, 2 * messages), site.indexes[1]
    sample = random.Random(1).sample(words, min(1_000, len(words)))
    async with parts_of(**site.place, index=index) as parts, Engine(parts) as memory:
        await memory.start()
        vectors = await tell_both(parts, memory, site, words)
        before = await answers(memory, BEN)
        there = {tail for _, tail in words_left(site.files(), sample, keeping=ANA)}
        assert len(there - set(forms([ANA]))) >= len(sample)

        receipt = await memory.forget(user=ANA)

        assert receipt.counts["ledger"]["messages"] == messages
        assert receipt.counts["ledger"]["facts"] > messages / 4
        assert set(receipt.verified) - {"redis"} == {"ledger", "cache", "index"} | (set() if site.server else {"files"})
        left = site.files()
        assert words_left(left, {ANA, *sample}, keeping=ANA) == []
        assert traces(left, vectors) == []
        await settle(memory)
        assert await answers(memory, BEN) == before
        assert await memory.recall("garden", user=ANA) == []
        assert (await memory.doctor()).healthy
    site.looked_at()
    assert words_left(site.files(), {ANA, *sample}, keeping=ANA) == []
    async with memory_of(**site.place, index=index) as memory:
        assert await answers(memory, BEN) == before


def words_left(held: Mapping[str, bytes], words: Iterable[str], *, keeping: str) -> list[tuple[str, bytes]]:
    """Return where words are found. The name of the user stays in the log of erasures: that alone is not a trace.

    The last eight letters of each word are nobody else's. Zeros are taken out as well, and with them UTF-16.
    """
    tails = {word.removeprefix(keeping).encode() for word in words if word != keeping}
    marked = [re.compile(re.escape(mark) + b"[a-z]|" + re.escape(mark) + b"\\0[a-z]") for mark in forms([keeping])]
    found = [(name, hit[0]) for name, data in held.items() for mark in marked for hit in mark.finditer(data)]
    for name, data in held.items():
        runs = LETTERS.findall(data.lower()) + LETTERS.findall(data.replace(b"\0", b"").lower())
        windows = {run[at : at + 8] for run in runs for at in range(len(run) - 7)}
        found += [(name, tail) for tail in tails & windows]
    return found


async def test_nothing_of_a_user_is_left_in_any_file(site: Site) -> None:
    await check_a_whole_user(site, 1_200 if site.server is None else 400)


async def test_nothing_of_a_tenant_is_left_in_any_file(site: Site) -> None:
    async with memory_of(**site.place, index=site.indexes[1]) as memory:
        for user in ("qzvana", "qzvbea"):
            await tell(memory, user, sentences(words_of(user, 200)))
        await settle(memory)
        site.looked_at()
        in_index = held_by_chroma(site.home)
        receipt = await memory.forget(whole_tenant="default")
        assert receipt.counts["ledger"]["messages"] == 200
        left = site.files()
        for user in ("qzvana", "qzvbea"):
            assert words_left(left, words_of(user, 200), keeping=user) == []
        assert traces(left, in_index) == []


@pytest.mark.skipif(settings.get_current_profile_name() != "soak", reason="takes minutes: make soak-forget")
async def test_nothing_of_a_user_with_ten_thousand_messages_is_left_in_any_file(site: Site) -> None:
    await check_a_whole_user(site, 10_000)


@pytest.mark.parametrize("which", [0, 1])
async def test_nothing_of_one_message_is_left_in_any_file(site: Site, which: int) -> None:
    text = "I use Jxqtool as a tool for jxqgardens"
    async with parts_of(**site.place, index=site.indexes[which]) as parts, Engine(parts) as memory:
        await memory.start()
        await tell(memory, ANA, sentences(words_of(ANA, 100)))
        await settle(memory)
        known = pieces(await vectors_of(parts, ANA))
        added = await memory.add(text, user=ANA, session="s", metadata={"topic": "jxqtopic"})
        assert added.changes
        await memory.add("I use Wkbtool as a tool", user=BEN)
        await settle(memory)
        site.looked_at()
        before = await answers(memory, BEN)
        own = [piece for piece in pieces(await vectors_of(parts, ANA)) if piece not in known]
        assert traces(site.files(), forms(["jxq"])) and traces(site.files(), own)
        receipt = await memory.forget(user=ANA, message=added.messages[0])
        assert (receipt.counts["ledger"]["messages"], receipt.counts["ledger"]["facts"]) == (1, 1)
        assert traces(site.files(), [*forms(["jxq", added.changes[0].fact]), *own]) == []
        assert traces(site.files(), forms([ANA + "name"]))
        assert await answers(memory, BEN) == before


@pytest.mark.parametrize("which", [0, 1])
async def test_nothing_of_one_fact_is_left_in_any_file(site: Site, which: int) -> None:
    async with parts_of(**site.place, index=site.indexes[which]) as parts, Engine(parts) as memory:
        await memory.start()
        await tell(memory, ANA, sentences(words_of(ANA, 100)))
        await settle(memory)
        known = pieces(await vectors_of(parts, ANA))
        fact = await memory.remember("Allergic to jxqnuts", user=ANA)
        await memory.revise(fact.id, "Allergic to jxqnuts and jxqmilk", user=ANA, reason="jxqreason")
        await settle(memory)
        site.looked_at()
        own = [piece for piece in pieces(await vectors_of(parts, ANA)) if piece not in known]
        assert traces(site.files(), forms(["jxq"])) and traces(site.files(), own)
        receipt = await memory.forget(user=ANA, fact=fact.id)
        assert (receipt.counts["ledger"]["facts"], receipt.counts["ledger"]["fact_versions"]) == (1, 2)
        assert traces(site.files(), [*forms(["jxq"]), *own]) == []


@pytest.mark.backends("files")  # an index that is no longer used is looked for in a folder of Chroma
async def test_an_index_that_is_no_longer_used_forgets_too(site: Site) -> None:
    async with memory_of(**site.place, index="chroma") as memory:
        await tell(memory, ANA, sentences(words_of(ANA, 2_400)))
        await settle(memory)
    in_index = held_by_chroma(site.home)
    assert in_index
    async with memory_of(**site.place, index="exact") as memory:
        receipt = await memory.forget(user=ANA)
    assert "index" in receipt.verified
    assert traces(site.home, in_index) == []
