from dataclasses import replace

import numpy as np
import pytest

from commonplace.domain.archive import OfUser, Opened
from commonplace.domain.errors import Conflict
from commonplace.ports.feed import Vector
from commonplace.ports.ledger import Change, Ledger, NewMessage
from tests.contracts.ledger.values import ANA, BEN, NOBODY, OTHER_ANA, added, an_entry, new_message

OWN, EVERYBODYS = "own/1", "everybodys/1"


def wide(seed: int) -> Vector:
    return np.random.default_rng(seed).standard_normal(12, dtype=np.float32)


def said(id_: str, *, model: str, vector: Vector | None = None) -> Change:
    entry = replace(an_entry(1), model=model)
    entry = entry if vector is None else replace(entry, vector=vector)
    return Change(messages=[NewMessage(message=new_message(id_).message, entries=(entry,))])


class OwnModelsContract:
    async def test_nobody_has_a_model_of_their_own_at_first(self, ledger: Ledger) -> None:
        await ledger.write(ANA, added("m1"))
        assert dict(await ledger.own_models(ANA.tenant)) == {}
        assert (await ledger.versions(ANA)).model is None

    async def test_a_model_of_ones_own_is_said_with_where_the_user_stands(self, ledger: Ledger) -> None:
        await ledger.set_own_model(ANA, OWN)
        await ledger.set_own_model(NOBODY, "\ud800")
        assert dict(await ledger.own_models(ANA.tenant)) == {ANA: OWN, NOBODY: "\ud800"}
        assert dict(await ledger.own_models(OTHER_ANA.tenant)) == {}
        assert (await ledger.versions(ANA)).model == OWN
        assert (await ledger.feed(ANA)).versions.model == OWN
        assert (await ledger.versions(BEN)).model is None

    async def test_vectors_are_kept_if_they_are_of_the_users_model_whatever_everybodys_is(self, ledger: Ledger) -> None:
        await ledger.set_embedder_identity(EVERYBODYS)
        await ledger.set_own_model(ANA, OWN)
        await ledger.write(ANA, said("m1", model=OWN, vector=wide(1)), said("m2", model=EVERYBODYS))
        await ledger.write(BEN, said("m1", model=OWN), said("m2", model=EVERYBODYS))
        assert {n: len(vector) for n, vector in (await ledger.vectors(ANA, [1, 2])).items()} == {1: 48}
        assert {n: len(vector) for n, vector in (await ledger.vectors(BEN, [1, 2])).items()} == {2: 32}
        await ledger.set_vectors(ANA, {2: wide(2)}, model=EVERYBODYS)
        assert set(await ledger.vectors(ANA, [1, 2])) == {1}
        await ledger.set_vectors(ANA, {2: wide(2)}, model=OWN)
        assert (await ledger.vectors(ANA, [2]))[2] == wide(2).tobytes()

    async def test_another_model_is_a_conflict_where_there_are_vectors(self, ledger: Ledger) -> None:
        await ledger.set_embedder_identity(EVERYBODYS)
        await ledger.write(ANA, said("m1", model=EVERYBODYS))
        before = await ledger.versions(ANA)
        with pytest.raises(Conflict, match=EVERYBODYS):
            await ledger.set_own_model(ANA, OWN)
        assert await ledger.versions(ANA) == before
        await ledger.set_own_model(ANA, EVERYBODYS)
        assert set(await ledger.vectors(ANA, [1])) == {1}
        await ledger.set_own_model(ANA, None)
        assert (await ledger.versions(ANA)).model is None
        assert set(await ledger.vectors(ANA, [1])) == {1}

    async def test_vectors_of_another_model_can_be_cleared_away_and_nobody_elses_are(self, ledger: Ledger) -> None:
        await ledger.set_embedder_identity(EVERYBODYS)
        for scope in (ANA, BEN):
            await ledger.write(scope, said("m1", model=EVERYBODYS))
        before = await ledger.versions(ANA)
        await ledger.set_own_model(ANA, f"changing to {OWN}", clear=True)
        assert dict(await ledger.vectors(ANA, [1])) == {}
        assert set(await ledger.vectors(BEN, [1])) == {1}
        assert (await ledger.versions(ANA)).version > before.version
        await ledger.set_vectors(ANA, {1: wide(1)}, model=OWN)
        await ledger.set_own_model(ANA, OWN)
        assert set(await ledger.vectors(ANA, [1])) == {1}

    async def test_who_has_none_and_is_to_have_none_is_not_made(self, ledger: Ledger) -> None:
        await ledger.set_own_model(ANA, None)
        assert (await ledger.versions(ANA)).number == 0

    async def test_vectors_of_users_with_their_own_model_are_not_everybodys(self, ledger: Ledger) -> None:
        await ledger.set_own_model(ANA, OWN)
        await ledger.write(ANA, said("m1", model=OWN))
        assert not await ledger.holds_vectors()
        await ledger.write(BEN, added("m1"))
        assert await ledger.holds_vectors()

    async def test_an_archive_says_whose_vectors_each_users_are(self, ledger: Ledger) -> None:
        await ledger.set_embedder_identity(EVERYBODYS)
        await ledger.write(BEN, said("m1", model=EVERYBODYS))
        assert [one async for one in ledger.read_archive()][0][0] == Opened(ledger=ledger.name, embedder=EVERYBODYS)
        await ledger.set_own_model(ANA, OWN)
        await ledger.write(ANA, said("m1", model=OWN, vector=wide(1)))
        everything = [record async for batch in ledger.read_archive() for record in batch]
        assert everything[0] == Opened(format=2, ledger=ledger.name, embedder=EVERYBODYS)
        assert [one for one in everything if isinstance(one, OfUser)] == [OfUser("ana", OWN), OfUser("ben")]
        hers = [record async for batch in ledger.read_archive(ANA) for record in batch]
        assert hers[0] == Opened(ledger=ledger.name, embedder=OWN)
