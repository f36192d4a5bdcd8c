import asyncio

import pytest
from hypothesis import HealthCheck, given, settings

from commonplace.domain.errors import Conflict
from commonplace.domain.values import BLOCK_VERSIONS, Block, BlockVersion
from commonplace.ports.ledger import Ledger
from tests.contracts.ledger.values import ANA, BEN, START, any_text, later


def a_block(name: str, text: str = "text", *, order: int = -1) -> Block:
    return Block(name=name, text=text, order=order, updated_at=START)


async def in_order(ledger: Ledger) -> list[tuple[str, str]]:
    return [(block.name, block.text) for block in await ledger.blocks(ANA)]


class BlocksContract:
    async def test_a_block_comes_back_with_its_place(self, ledger: Ledger) -> None:
        assert await ledger.blocks(ANA) == []
        assert await ledger.set_block(ANA, a_block("persona", "kind")) == a_block("persona", "kind", order=0)
        assert await ledger.set_block(ANA, a_block("profile", "Ana")) == a_block("profile", "Ana", order=1)
        assert await ledger.blocks(ANA) == [a_block("persona", "kind", order=0), a_block("profile", "Ana", order=1)]

    async def test_blocks_come_in_their_order(self, ledger: Ledger) -> None:
        for name, order in (("c", 5), ("a", 7), ("b", 5), ("d", 0), ("last", -1)):
            await ledger.set_block(ANA, a_block(name, order=order))
        assert [block.name for block in await ledger.blocks(ANA)] == ["d", "b", "c", "a", "last"]

    async def test_replacing_keeps_the_place(self, ledger: Ledger) -> None:
        for name in ("a", "b", "c"):
            await ledger.set_block(ANA, a_block(name))
        await ledger.set_block(ANA, a_block("a", "new"))
        assert await in_order(ledger) == [("a", "new"), ("b", "text"), ("c", "text")]
        await ledger.set_block(ANA, a_block("a", "new", order=9))
        assert [block.name for block in await ledger.blocks(ANA)] == ["b", "c", "a"]

    async def test_appending_adds_a_line(self, ledger: Ledger) -> None:
        assert await ledger.append_block(ANA, "a", "one", now=later(1)) == Block(
            name="a", text="one", order=0, updated_at=later(1)
        )
        await ledger.set_block(ANA, a_block("b", ""))
        await ledger.append_block(ANA, "a", "two", now=later(2))
        await ledger.append_block(ANA, "b", "first", now=later(2))
        assert await ledger.blocks(ANA) == [
            Block(name="a", text="one\ntwo", order=0, updated_at=later(2)),
            Block(name="b", text="first", order=1, updated_at=later(2)),
        ]

    async def test_appends_at_once_lose_no_line(self, ledger: Ledger) -> None:
        await asyncio.gather(*(ledger.append_block(ANA, "a", f"line {n}", now=START) for n in range(30)))
        (block,) = await ledger.blocks(ANA)
        assert sorted(block.text.split("\n")) == sorted(f"line {n}" for n in range(30))

    async def test_a_deleted_block_is_gone(self, ledger: Ledger) -> None:
        await ledger.set_block(ANA, a_block("a"))
        await ledger.set_block(BEN, a_block("a"))
        assert await ledger.delete_block(ANA, "a")
        assert not await ledger.delete_block(ANA, "a")
        assert await ledger.blocks(ANA) == []
        assert len(await ledger.blocks(BEN)) == 1

    async def test_what_a_block_said_before_is_kept(self, ledger: Ledger) -> None:
        assert await ledger.block_history(ANA, "a") == []
        await ledger.set_block(ANA, a_block("a", "one"))
        await ledger.set_block(ANA, Block(name="a", text="two", order=-1, updated_at=later(1)))
        await ledger.set_block(ANA, Block(name="a", text="two", order=7, updated_at=later(2)))
        await ledger.append_block(ANA, "a", "three", now=later(3))
        await ledger.set_block(ANA, a_block("b", "other"))
        assert await ledger.block_history(ANA, "a") == [
            BlockVersion(name="a", text="one", since=START, until=later(1)),
            BlockVersion(name="a", text="two", since=later(2), until=later(3)),
            BlockVersion(name="a", text="two\nthree", since=later(3)),
        ]
        assert await ledger.block_history(BEN, "a") == []

    async def test_of_a_blocks_older_versions_the_last_are_kept(self, ledger: Ledger) -> None:
        for n in range(BLOCK_VERSIONS + 3):
            await ledger.set_block(ANA, Block(name="a", text=str(n), order=-1, updated_at=later(n)))
        history = await ledger.block_history(ANA, "a")
        assert [version.text for version in history] == [str(n) for n in range(2, BLOCK_VERSIONS + 3)]

    async def test_the_versions_of_a_deleted_block_are_gone(self, ledger: Ledger) -> None:
        await ledger.set_block(ANA, a_block("a", "one"))
        await ledger.set_block(ANA, a_block("a", "two"))
        await ledger.delete_block(ANA, "a")
        assert await ledger.block_history(ANA, "a") == []
        await ledger.set_block(ANA, a_block("a", "three"))
        assert [version.text for version in await ledger.block_history(ANA, "a")] == ["three"]

    async def test_a_block_is_changed_only_if_it_is_what_is_expected(self, ledger: Ledger) -> None:
        first = await ledger.set_block(ANA, a_block("a", "one"))
        second = await ledger.set_block(ANA, a_block("a", "two"), expected=first)
        for changing in (
            ledger.set_block(ANA, a_block("a", "three"), expected=first),
            ledger.append_block(ANA, "a", "three", now=START, expected=first),
            ledger.delete_block(ANA, "a", expected=first),
            ledger.set_block(ANA, a_block("b", "three"), expected=first),
            ledger.set_block(BEN, a_block("a", "three"), expected=second),
            ledger.delete_block(BEN, "a", expected=second),
        ):
            with pytest.raises(Conflict):
                await changing
        assert await ledger.blocks(ANA) == [second]
        assert await ledger.blocks(BEN) == []
        longer = await ledger.append_block(ANA, "a", "three", now=later(1), expected=second)
        assert await ledger.delete_block(ANA, "a", expected=longer)

    async def test_of_many_who_expect_the_same_one_changes_it(self, ledger: Ledger) -> None:
        first = await ledger.set_block(ANA, a_block("a", "one"))
        changing = (ledger.set_block(ANA, a_block("a", f"by {n}"), expected=first) for n in range(20))
        done = await asyncio.gather(*changing, return_exceptions=True)
        assert sum(isinstance(one, Block) for one in done) == 1
        assert sum(isinstance(one, Conflict) for one in done) == 19

    async def test_blocks_are_no_index_rows(self, ledger: Ledger) -> None:
        await ledger.set_block(ANA, a_block("a"))
        versions = await ledger.versions(ANA)
        assert (versions.version, versions.rows) == (0, 0)

    @given(name=any_text, text=any_text)
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_any_text_comes_back_equal_in_a_block(self, ledger: Ledger, name: str, text: str) -> None:
        written = await ledger.set_block(ANA, a_block(name, text))
        assert written in await ledger.blocks(ANA)
        assert (written.name, written.text) == (name, text)
        assert await ledger.delete_block(ANA, name)
