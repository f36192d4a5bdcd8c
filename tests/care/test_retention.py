"""Retention: what is due goes as a forget goes, and who is on hold stays."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.domain.errors import LedgerUnavailable, OnHold
from commonplace.domain.retention import Due, Retention
from commonplace.domain.scope import Scope
from commonplace.domain.values import FactId
from commonplace.engine.chores import Chore, Chores
from commonplace.engine.engine import Engine
from commonplace.ports.ledger import Ledger
from tests.backends import Backend
from tests.care.folders import NOW, forms, parts_of, traces

pytestmark = pytest.mark.backends("ledgers")


@pytest.fixture
def place(backend: Backend, tmp_path: Path) -> dict[str, Any]:
    return backend.at(tmp_path)


@asynccontextmanager
async def keeping(place: dict[str, Any], rules: str, *, now: datetime = NOW) -> AsyncIterator[Engine]:
    async with parts_of(**place, now=now) as parts:
        options = replace(parts.options, retention=Retention.parse(rules))
        async with Engine(replace(parts, options=options)) as memory:
            yield memory


async def tell(memory: Engine) -> None:
    await memory.add("I use Jxqtool as a tool", user="ana", session="old", at=NOW - timedelta(days=40))
    await memory.add("I use Wkbtool as a tool", user="ana", session="new", at=NOW - timedelta(days=2))
    await memory.add("My locker code is jxq4711", user="ben", expires_at=NOW + timedelta(days=1))
    await memory.add("I like wkbtea", user="ben")


async def said(memory: Engine, user: str) -> list[str]:
    return [message.text for message in await memory.messages(user=user)]


async def test_a_purge_erases_what_is_due_from_every_file_and_keeps_receipts(
    backend: Backend, place: dict[str, Any]
) -> None:
    async with keeping(place, "30") as memory:
        await tell(memory)
    async with keeping(place, "30", now=NOW + timedelta(days=2)) as memory:
        planned = await memory.purge(dry_run=True)
        assert not planned.applied and [receipt.at for receipt in planned.receipts] == [None, None]
        assert len(await said(memory, "ana")) == 2
        purged = await memory.purge()
        assert [one.counts for one in purged.receipts] == [one.counts for one in planned.receipts]
        assert [(one.user, one.counts["ledger"]["messages"]) for one in purged.receipts] == [("ana", 1), ("ben", 1)]
        assert ("files" in purged.receipts[0].verified) == (backend.ledger == "sqlite")
        assert await said(memory, "ana") == ["I use Wkbtool as a tool"]
        assert await said(memory, "ben") == ["I like wkbtea"]
        assert await memory.receipts(user="ana") == [purged.receipts[0]]
        assert traces(place["home"], forms(["jxq"])) == []
        assert (await memory.purge()).receipts == ()
        assert (await memory.doctor()).healthy


async def test_without_rules_only_what_expires_goes(place: dict[str, Any]) -> None:
    async with keeping(place, "") as memory:
        await tell(memory)
    async with keeping(place, "", now=NOW + timedelta(days=900)) as memory:
        assert [one.user for one in (await memory.purge()).receipts] == ["ben"]


async def test_facts_may_go_before_the_messages_that_said_them(place: dict[str, Any]) -> None:
    async with keeping(place, "fact=30") as memory:
        await tell(memory)
        (receipt,) = (await memory.purge()).receipts
        assert (receipt.counts["ledger"]["facts"], receipt.counts["ledger"]["messages"]) == (1, 0)
        assert len(await said(memory, "ana")) == 2
        assert [fact.value for fact in await memory.facts(user="ana")] == ["Wkbtool"]


async def test_a_fact_that_is_said_again_is_kept(place: dict[str, Any]) -> None:
    async with keeping(place, "fact=30") as memory:
        await tell(memory)
        await memory.add("I use Jxqtool as a tool", user="ana", at=NOW - timedelta(days=1))
        assert (await memory.purge()).receipts == ()


class Interrupted:
    """A ledger, and what happens just after it was asked for the facts that are due."""

    def __init__(self, ledger: Ledger, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._ledger, self._meanwhile = ledger, [meanwhile]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def due_facts(self, scope: Scope, due: Due) -> Sequence[FactId]:
        found = await self._ledger.due_facts(scope, due)
        while self._meanwhile:
            await self._meanwhile.pop()()
        return found


async def test_what_another_purge_has_taken_meanwhile_is_no_error(place: dict[str, Any]) -> None:
    async with keeping(place, "30") as memory:
        await tell(memory)
    later = NOW + timedelta(days=2)
    async with keeping(place, "30", now=later) as other, parts_of(**place, now=later) as parts:
        between = cast(Ledger, Interrupted(parts.ledger, other.purge))
        options = replace(parts.options, retention=Retention.parse("30"))
        async with Engine(replace(parts, options=options, ledger=between)) as memory:
            purged = await memory.purge()
        assert [receipt for receipt in purged.receipts if any(receipt.counts["ledger"].values())] == []
        assert await said(other, "ana") == ["I use Wkbtool as a tool"]
        assert (await other.doctor()).healthy


async def test_a_user_on_hold_is_neither_purged_nor_forgotten(place: dict[str, Any]) -> None:
    async with keeping(place, "30") as memory:
        await tell(memory)
        held = await memory.hold(user="ana", reason="a lawsuit")
        assert await memory.holds() == [held]
        purged = await memory.purge()
        assert (purged.held, purged.receipts) == (("ana",), ())
        with pytest.raises(OnHold, match="'ana' is on hold since 2026-11-15"):
            await memory.forget(user="ana", session="old")
        with pytest.raises(OnHold):
            await memory.forget(whole_tenant="default")
        await memory.forget(user="ben")
        await memory.release(user="ana")
        assert len((await memory.purge()).receipts) == 1


async def test_of_many_processes_one_purges_and_a_failure_is_tried_again(place: dict[str, Any]) -> None:
    failures: list[Exception] = [ZeroDivisionError("a bug"), LedgerUnavailable("busy")]

    async def purge() -> None:
        if failures:
            raise failures.pop()

    async with parts_of(**place, now=NOW) as one, parts_of(**place, now=NOW) as two:
        chores = [Chore("purge", 3_600, purge)]
        assert [await Chores(parts, chores).once() for parts in (one, two)] == [[], []]
        for minutes, done in ((4, []), (5, []), (10, ["purge"]), (11, []), (70, ["purge"])):
            later = NOW + timedelta(minutes=minutes)
            assert await Chores(replace(two, now=lambda later=later: later), chores).once() == done  # type: ignore[misc]


async def test_a_worker_purges(place: dict[str, Any]) -> None:
    async with keeping(place, "30") as memory:
        await tell(memory)
        assert await Chores(memory._parts, memory._chores()).once() == ["purge of default"]
        assert await said(memory, "ana") == ["I use Wkbtool as a tool"]
