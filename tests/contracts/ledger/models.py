import asyncio
from dataclasses import replace
from typing import Protocol

import numpy as np
import pytest

from commonplace.domain.archive import KeptMessage, Passage
from commonplace.domain.errors import Conflict, Overtaken
from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from commonplace.domain.values import MessageId
from commonplace.ports.erasure import Removal
from commonplace.ports.feed import Feed, Vector
from commonplace.ports.ledger import Change, Ledger, NewMessage
from commonplace.ports.models import Model, Models
from tests.contracts.ledger.values import ANA, BEN, OTHER_ANA, START, a_vector, added, an_entry, learned, new_message

OLD = Model(identity="old/1", name="local", dimensions=8)
NEW = Model(identity="new/1", name="openai:new", dimensions=12)
THIRD = Model(identity="third/1", name=None, dimensions=8)
PASSAGE = Passage(start=0, stop=5, terms=b"", vector=a_vector(1).tobytes(), tokens=None)


class Modelling(Ledger, Models, Protocol):
    pass


def wide(seed: int) -> Vector:
    return np.random.default_rng(seed).standard_normal(12, dtype=np.float32)


def numbers(feed: Feed) -> list[int]:
    return sorted([*(row.n for row in feed.messages), *(row.n for row in feed.facts)])


async def lacking(ledger: Modelling, scope: Scope = ANA, *, aside: bool = True, after: int = 0) -> list[int]:
    return numbers(await ledger.lacking(scope, after=after, limit=100, aside=aside))


async def begun(ledger: Modelling) -> None:
    """Three rows of Ana, with the vectors of one model, and those of another to come."""
    await ledger.set_embedder_identity(OLD.identity)
    await ledger.write(ANA, added("m1", "m2"), learned("f1", "m1"))
    await ledger.begin_aside(NEW, current=OLD)


async def filled(ledger: Modelling) -> None:
    await begun(ledger)
    await ledger.set_aside(ANA, {n: wide(n) for n in (1, 2, 3)}, model=NEW.identity, tokens={2: b"t" * 64})


class ModelsContract:
    async def test_a_ledger_knows_no_model_at_first(self, ledger: Modelling) -> None:
        record = await ledger.models()
        assert (record.generation, record.current, record.aside, dict(record.known)) == (0, None, None, {})
        assert (ledger.generation, (await ledger.versions(ANA)).generation) == (0, 0)

    async def test_everyone_who_has_rows_is_listed_whatever_the_tenant(self, ledger: Modelling) -> None:
        await ledger.write(ANA, added("m1"))
        await ledger.write(OTHER_ANA, added("m1"))
        await ledger.append_block(BEN, "profile", "x", now=START)
        assert set(await ledger.everyone()) == {ANA, OTHER_ANA}

    async def test_vectors_of_another_model_are_kept_aside_and_change_nothing(self, ledger: Modelling) -> None:
        await begun(ledger)
        before, vectors = await ledger.versions(ANA), await ledger.vectors(ANA, [1, 2, 3])
        assert await lacking(ledger) == [1, 2, 3]
        assert await lacking(ledger, after=1) == [2, 3]
        assert numbers(await ledger.lacking(ANA, after=0, limit=2, aside=True)) == [1, 2]
        await ledger.set_aside(ANA, {1: wide(1), 9: wide(9)}, model=NEW.identity)
        assert await lacking(ledger) == [2, 3]
        assert await ledger.aside(ANA, [1, 2, 9]) == {1: wide(1).tobytes()}
        assert await ledger.aside(BEN, [1]) == {}
        assert (await ledger.versions(ANA), await ledger.vectors(ANA, [1, 2, 3])) == (before, vectors)
        record = await ledger.models()
        assert record.current == OLD.identity
        assert record.aside is not None
        assert (record.aside.model, record.aside.state, record.aside.rows) == (NEW, "building", 1)

    async def test_what_is_written_meanwhile_lacks_its_vector_aside(self, ledger: Modelling) -> None:
        await filled(ledger)
        assert await lacking(ledger) == []
        await ledger.write(ANA, added("m3"))
        assert await lacking(ledger) == [4]
        assert await lacking(ledger, aside=False) == []

    async def test_a_switch_lets_the_two_change_places(self, ledger: Modelling) -> None:
        await filled(ledger)
        old = await ledger.vectors(ANA, [1, 2, 3])
        before = await ledger.versions(ANA)
        assert await ledger.switch_vectors(to=NEW.identity) == 1
        assert await ledger.embedder_identity() == NEW.identity
        assert await ledger.vectors(ANA, [1, 2, 3]) == {n: wide(n).tobytes() for n in (1, 2, 3)}
        assert await ledger.aside(ANA, [1, 2, 3]) == old
        feed = await ledger.feed(ANA)
        assert {row.n: row.tokens for row in feed.messages} == {1: None, 2: b"t" * 64}
        assert feed.versions == before._replace(generation=1)
        assert (await ledger.versions(BEN)).generation == ledger.generation == 1
        record = await ledger.models()
        assert record.aside is not None
        assert (record.aside.model, record.aside.state) == (OLD, "kept")
        assert dict(record.known) == {OLD.identity: OLD, NEW.identity: NEW}
        assert await ledger.check() == []

    async def test_a_switch_does_not_overtake_a_write(self, ledger: Modelling) -> None:
        await filled(ledger)
        seen = {scope: versions.version for scope, versions in (await ledger.everyone()).items()}
        await ledger.write(BEN, added("m1"))
        with pytest.raises(Overtaken):
            await ledger.switch_vectors(to=NEW.identity, seen=seen)
        seen = {scope: versions.version for scope, versions in (await ledger.everyone()).items()}
        assert await ledger.switch_vectors(to=NEW.identity, seen=seen) == 1
        assert await lacking(ledger, BEN, aside=False) == [1]

    async def test_going_back_is_a_switch_too(self, ledger: Modelling) -> None:
        await filled(ledger)
        old = await ledger.vectors(ANA, [1, 2, 3])
        await ledger.switch_vectors(to=NEW.identity)
        await ledger.begin_aside(OLD, current=NEW)
        assert await lacking(ledger) == []
        assert await ledger.switch_vectors(to=OLD.identity) == 2
        assert await ledger.vectors(ANA, [1, 2, 3]) == old

    async def test_vectors_of_a_model_that_is_not_in_use_are_not_written(self, ledger: Modelling) -> None:
        await filled(ledger)
        await ledger.switch_vectors(to=NEW.identity)
        late = NewMessage(message=new_message("m9").message, entries=(replace(an_entry(9), model=OLD.identity),))
        await ledger.write(ANA, Change(messages=[late]))
        await ledger.set_vectors(ANA, {1: a_vector(7)}, model=OLD.identity)
        assert await lacking(ledger, aside=False) == [4]
        assert await ledger.vectors(ANA, [1, 4]) == {1: wide(1).tobytes()}
        await ledger.set_vectors(ANA, {4: wide(4)}, model=NEW.identity)
        assert await lacking(ledger, aside=False) == []
        assert await ledger.feed(ANA, since=0)

    async def test_one_model_at_a_time(self, ledger: Modelling) -> None:
        await begun(ledger)
        await ledger.begin_aside(NEW, current=OLD)
        for model, current in ((THIRD, OLD), (OLD, OLD), (NEW, THIRD)):
            with pytest.raises(Conflict):
                await ledger.begin_aside(model, current=current)
        with pytest.raises(Conflict):
            await ledger.set_aside(ANA, {1: a_vector(1)}, model=THIRD.identity)
        with pytest.raises(Conflict):
            await ledger.switch_vectors(to=THIRD.identity)

    async def test_what_is_discarded_is_gone_piece_by_piece(self, ledger: Modelling) -> None:
        await filled(ledger)
        assert await ledger.discard_aside(limit=2) == 1
        with pytest.raises(Conflict):
            await ledger.switch_vectors(to=NEW.identity)
        assert await ledger.discard_aside(limit=2) == 0
        assert await ledger.discard_aside(limit=2) == 0
        assert (await ledger.models()).aside is None
        await ledger.begin_aside(THIRD, current=OLD)
        assert await lacking(ledger) == [1, 2, 3]

    async def test_what_is_forgotten_is_gone_from_aside_too(self, ledger: Modelling) -> None:
        await filled(ledger)
        what = Part(message=MessageId("m2"))
        erased = await ledger.erase(ANA, Removal(id="e1", what=what, at=START, messages=[MessageId("m2")]))
        assert await ledger.remains(erased) == 0
        assert await ledger.aside(ANA, [1, 2, 3]) == {1: wide(1).tobytes(), 3: wide(3).tobytes()}
        await ledger.set_aside(ANA, {2: wide(2)}, model=NEW.identity)
        assert await ledger.aside(ANA, [2]) == {}
        await ledger.erase(ANA, Removal(id="e2", what=Part(), at=START))
        assert (await ledger.aside(ANA, [1, 3]), await ledger.check()) == ({}, [])

    async def test_a_user_with_a_model_of_their_own_takes_no_part_in_a_switch(self, ledger: Modelling) -> None:
        await filled(ledger)
        await ledger.set_own_model(BEN, THIRD.identity)
        await ledger.write(BEN, added("m1"))
        before = await ledger.vectors(BEN, [1])
        await ledger.switch_vectors(to=NEW.identity, seen={ANA: (await ledger.versions(ANA)).version})
        assert await ledger.vectors(BEN, [1]) == before
        assert (await ledger.everyone())[BEN].model == THIRD.identity
        assert await ledger.discard_aside(limit=100) == 0
        assert await ledger.vectors(BEN, [1]) == before
        assert len((await ledger.vectors(ANA, [1]))[1]) == 48
        assert list(await ledger.check()) == []

    async def test_who_adds_rows_waits_as_long_as_it_is_held(self, ledger: Modelling) -> None:
        await begun(ledger)
        await ledger.hold_writes(60)
        adding = asyncio.create_task(ledger.write(ANA, added("m3")))
        archiving = asyncio.create_task(
            ledger.write_archive(BEN, [KeptMessage(message=new_message("m1").message, passages=(PASSAGE,))])
        )
        await ledger.append_block(ANA, "profile", "x", now=START)
        assert not (await asyncio.wait([adding, archiving], timeout=0.1))[0]
        assert (await ledger.everyone()).keys() == {ANA}
        await ledger.hold_writes(0)
        await adding
        await archiving
        assert (await ledger.everyone()).keys() == {ANA, BEN}
        await ledger.hold_writes(0.1)  # nobody ends it
        await ledger.write(ANA, added("m4"))
        assert await lacking(ledger, aside=False) == []
