"""What every FullText must do. Terms are packed here as text, a number for each."""

from collections.abc import Sequence
from typing import Protocol

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.domain.scope import Scope
from commonplace.ports.full_text import FullText
from commonplace.ports.ledger import Change, Entry, Ledger, NewMessage, NewVersion
from tests.contracts.ledger.values import ANA, BEN, NOBODY, a_fact, a_message, closed

COMMON, RARE, OTHER = 2**64 - 1, 0, 0xDEADBEEF


class LedgerWithFullText(Ledger, FullText, Protocol):
    pass


def unpack(terms: bytes) -> Sequence[int]:
    return [int(term) for term in terms.split()]


def entry(*terms: int) -> Entry:
    return Entry(start=0, stop=1, terms=b" ".join(b"%d" % term for term in terms), vector=None)


def message(id_: str, *passages: tuple[int, ...]) -> Change:
    return Change(messages=[NewMessage(message=a_message(id_), entries=tuple(entry(*terms) for terms in passages))])


class FullTextContract:
    async def test_rows_that_were_there_and_rows_to_come_are_found(self, ledger: LedgerWithFullText) -> None:
        await ledger.write(ANA, message("m1", (COMMON,), (RARE,)))
        await ledger.write(ANA, Change(versions=[NewVersion(fact=a_fact(), entry=entry(RARE, OTHER))]))
        await ledger.build_full_text(ANA)
        await ledger.write(ANA, message("m2", (OTHER,)))
        await ledger.write(ANA, Change(versions=[NewVersion(fact=a_fact("f2"), entry=entry(RARE))]))
        assert set(await ledger.matching(ANA, [RARE], limit=10)) == {2, 3, 5}
        assert set(await ledger.matching(ANA, [OTHER, COMMON], limit=10)) == {1, 3, 4}
        assert await ledger.matching(ANA, [12345], limit=10) == []
        assert await ledger.matching(ANA, [], limit=10) == []

    async def test_the_best_come_first_and_no_more_than_the_limit(self, ledger: LedgerWithFullText) -> None:
        await ledger.write(ANA, *(message(f"m{n}", (COMMON, OTHER + n)) for n in range(20)))
        await ledger.write(ANA, message("both", (COMMON, RARE)))
        await ledger.build_full_text(ANA)
        found = await ledger.matching(ANA, [COMMON, RARE], limit=5)
        assert (found[0], len(found)) == (21, 5)

    async def test_rows_are_counted_by_term_for_one_user_alone(self, ledger: LedgerWithFullText) -> None:
        for scope in (ANA, BEN):
            await ledger.write(scope, message("m1", (COMMON,), (COMMON, RARE)))
            await ledger.build_full_text(scope)
        await ledger.write(ANA, message("m2", (COMMON,)))
        assert await ledger.holding(ANA, [COMMON, RARE, OTHER]) == {COMMON: 3, RARE: 1, OTHER: 0}
        assert await ledger.holding(BEN, [COMMON]) == {COMMON: 2}
        with pytest.raises(InvalidInput, match="not built"):
            await ledger.holding(NOBODY, [COMMON])

    async def test_a_closed_version_is_still_found(self, ledger: LedgerWithFullText) -> None:
        await ledger.build_full_text(ANA)
        await ledger.write(ANA, Change(versions=[NewVersion(fact=a_fact(), entry=entry(RARE))]))
        await ledger.write(ANA, Change(closed=[closed()]))
        assert await ledger.matching(ANA, [RARE], limit=10) == [1]

    @pytest.mark.parametrize("other", [BEN, NOBODY], ids=repr)
    async def test_only_the_rows_of_the_user_are_found(self, ledger: LedgerWithFullText, other: Scope) -> None:
        for scope in (ANA, other):
            await ledger.write(scope, message("m1", (COMMON,)))
            await ledger.build_full_text(scope)
        await ledger.write(ANA, message("m2", (RARE, COMMON)))
        assert await ledger.matching(other, [COMMON, RARE], limit=10) == [1]
        assert set(await ledger.matching(ANA, [COMMON, RARE], limit=10)) == {1, 2}

    async def test_a_user_whose_full_text_is_not_built_does_not_look_like_one_with_nothing_found(
        self, ledger: LedgerWithFullText
    ) -> None:
        await ledger.write(ANA, message("m1", (COMMON,)))
        await ledger.build_full_text(BEN)
        with pytest.raises(InvalidInput, match="not built"):
            await ledger.matching(ANA, [COMMON], limit=10)

    async def test_building_twice_is_building_once(self, ledger: LedgerWithFullText) -> None:
        await ledger.write(ANA, message("m1", (COMMON,)))
        for _ in range(2):
            await ledger.build_full_text(ANA)
        assert await ledger.matching(ANA, [COMMON], limit=10) == [1]

    @pytest.mark.parametrize("limit", [0, -1])
    async def test_a_limit_below_one_is_refused_in_full_text(self, ledger: LedgerWithFullText, limit: int) -> None:
        await ledger.build_full_text(ANA)
        with pytest.raises(InvalidInput, match=str(limit)):
            await ledger.matching(ANA, [COMMON], limit=limit)

    async def test_a_ledger_with_full_text_has_no_damage(self, ledger: LedgerWithFullText) -> None:
        await ledger.build_full_text(ANA)
        await ledger.write(ANA, message("m1", (COMMON,)))
        assert await ledger.check() == []
