from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.errors import Conflict
from commonplace.domain.values import Block
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, Ledger
from commonplace.ports.upkeep import Grown, LedgerCounts
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    OTHER_ANA,
    START,
    a_fact,
    closed,
    learned,
    new_message,
    new_version,
)

NOTHING = LedgerCounts(
    users=0,
    messages=0,
    facts=0,
    fact_versions=0,
    blocks=0,
    sessions=0,
    rows=0,
    rows_without_vector=0,
    jobs={},
    bytes_on_disk=0,
)


def counted(counts: LedgerCounts) -> LedgerCounts:
    """Leave out the size, which is each ledger's own."""
    return replace(counts, bytes_on_disk=0)


class UpkeepContract:
    async def test_what_a_tenant_holds_is_counted_by_the_day_it_was_said(self, ledger: Ledger) -> None:
        assert await ledger.growth(ANA.tenant) == []
        await ledger.write(ANA, learned())
        await ledger.write(BEN, Change(messages=[new_message("m9", "later", at=2 * 86_400)]))
        await ledger.write(OTHER_ANA, Change(messages=[new_message("m9", "elsewhere")]))
        await ledger.write(ANA, Change(closed=[closed()], versions=[new_version(a_fact(version=2, at=60))]))
        messages = (await ledger.counts(ANA.tenant)).messages
        assert await ledger.growth(ANA.tenant) == [
            Grown(day=START.date(), messages=messages - 1, facts=1),
            Grown(day=(START + timedelta(days=2)).date(), messages=1),
        ]

    async def test_the_first_model_is_recorded_and_another_is_a_conflict(self, ledger: Ledger) -> None:
        assert await ledger.embedder_identity() is None
        await ledger.set_embedder_identity("minilm/1")
        await ledger.set_embedder_identity("minilm/1")
        with pytest.raises(Conflict, match="minilm/1"):
            await ledger.set_embedder_identity("other/1")
        assert await ledger.embedder_identity() == "minilm/1"

    async def test_a_model_is_replaced_by_one_who_knows_what_is_recorded(self, ledger: Ledger) -> None:
        await ledger.set_embedder_identity("minilm/1")
        with pytest.raises(Conflict, match="minilm/1"):
            await ledger.set_embedder_identity("other/1", replacing="minilm/0")
        await ledger.set_embedder_identity("other/1", replacing="minilm/1")
        assert await ledger.embedder_identity() == "other/1"

    async def test_a_ledger_knows_whether_it_holds_vectors(self, ledger: Ledger) -> None:
        assert not await ledger.holds_vectors()
        await ledger.write(ANA, Change(messages=[new_message("m1", vector=False)]))
        assert not await ledger.holds_vectors()
        await ledger.write(ANA, Change(messages=[new_message("m2")]))
        assert await ledger.holds_vectors()

    async def test_an_empty_ledger_counts_nothing(self, ledger: Ledger) -> None:
        assert counted(await ledger.counts("acme")) == NOTHING
        assert counted(await ledger.counts_of(ANA)) == NOTHING

    async def test_everything_is_counted_by_tenant_and_by_user(self, ledger: Ledger) -> None:
        await ledger.write(ANA, replace(learned(), session_ttl=60))
        await ledger.write(ANA, Change(closed=[closed()], versions=[new_version(a_fact(version=2), vector=False)]))
        await ledger.write(BEN, Change(messages=[new_message("m1", passages=3, vector=False)], session_ttl=60))
        await ledger.write(OTHER_ANA, learned())
        await ledger.set_block(BEN, Block(name="profile", text="Ben", order=0, updated_at=START))
        for n, scope in enumerate((ANA, ANA, BEN, OTHER_ANA)):
            await ledger.enqueue(Job(id=f"j{n}", scope=scope, kind="learn", payload=None, epoch=0, run_at=START))
        await ledger.bury("j0", error="failed")
        ana = replace(
            NOTHING,
            users=1,
            messages=1,
            facts=1,
            fact_versions=2,
            sessions=1,
            rows=3,
            rows_without_vector=1,
            jobs={"dead": 1, "queued": 1},
        )
        ben = replace(
            NOTHING, users=1, messages=1, blocks=1, sessions=1, rows=3, rows_without_vector=3, jobs={"queued": 1}
        )
        both = LedgerCounts(
            users=2,
            messages=2,
            facts=1,
            fact_versions=2,
            blocks=1,
            sessions=2,
            rows=6,
            rows_without_vector=4,
            jobs={"dead": 1, "queued": 2},
            bytes_on_disk=0,
        )
        assert counted(await ledger.counts_of(ANA)) == ana
        assert counted(await ledger.counts_of(BEN)) == ben
        assert counted(await ledger.counts("acme")) == both

    async def test_a_ledger_in_use_has_no_damage(self, ledger: Ledger) -> None:
        assert await ledger.check() == []
        await ledger.write(ANA, learned())
        await ledger.write(ANA, Change(closed=[closed()], versions=[new_version(a_fact(version=2))]))
        await ledger.set_block(BEN, Block(name="profile", text="Ben", order=0, updated_at=START))
        assert await ledger.check() == []

    async def test_a_ledger_has_a_name(self, ledger: Ledger) -> None:
        assert ledger.name
        assert ledger.name.isalnum()
