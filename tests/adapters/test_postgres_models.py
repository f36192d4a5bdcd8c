"""A switch to the vectors of another model, among others who read and write meanwhile."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import psycopg
import pytest

from commonplace.adapters.postgres import PostgresLedger
from commonplace.domain.archive import KeptFact, KeptMessage
from commonplace.domain.errors import Overtaken
from tests.contracts.ledger.models import NEW, filled
from tests.contracts.ledger.values import ANA, BEN, added


@pytest.fixture
async def ledger(postgres_emptied: str) -> AsyncIterator[PostgresLedger]:
    async with PostgresLedger(postgres_emptied) as ledger:
        yield ledger


async def test_who_began_to_read_before_a_switch_sees_the_old_vectors_to_the_end(ledger: PostgresLedger) -> None:
    await filled(ledger)
    sizes: list[int] = []
    async with aclosing(ledger.read_archive()) as batches:
        await anext(batches)
        await ledger.switch_vectors(to=NEW.identity)
        async for batch in batches:
            for record in batch:
                match record:
                    case KeptMessage(passages=passages):
                        sizes += [len(one.vector or b"") for one in passages]
                    case KeptFact(passage=passage):
                        sizes.append(len(passage.vector or b"") if passage else 0)
    assert sizes == [32, 32, 32]


async def test_a_switch_gives_way_to_who_writes_for_long(ledger: PostgresLedger, postgres_emptied: str) -> None:
    await filled(ledger)
    seen = {scope: versions.version for scope, versions in (await ledger.everyone()).items()}
    async with await psycopg.AsyncConnection.connect(postgres_emptied) as writing:
        await writing.execute("select set_config('commonplace.every_tenant', 'on', true)")
        await writing.execute("select 1 from partitions for update")
        with pytest.raises(Overtaken):
            await ledger.switch_vectors(to=NEW.identity, seen=seen)
        await ledger.write(BEN, added("m1"))
        assert (await ledger.versions(ANA)).generation == 0
    with pytest.raises(Overtaken):
        await ledger.switch_vectors(to=NEW.identity, seen=seen)
    await ledger.switch_vectors(to=NEW.identity)
    assert (await ledger.versions(BEN)).generation == 1
