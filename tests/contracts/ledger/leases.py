from datetime import timedelta

from commonplace.ports.leases import Lease
from commonplace.ports.ledger import Ledger
from tests.contracts.ledger.values import later


class LeasesContract:
    async def test_a_duty_has_one_holder_at_a_time(self, ledger: Ledger) -> None:
        assert await ledger.take_lease("purge", holder="a", now=later(0), seconds=30)
        assert not await ledger.take_lease("purge", holder="b", now=later(29), seconds=30)
        assert await ledger.take_lease("other", holder="b", now=later(29), seconds=10)
        assert await ledger.leases(now=later(29)) == [
            Lease(duty="other", holder="b", until=later(39)),
            Lease(duty="purge", holder="a", until=later(30)),
        ]

    async def test_a_lease_that_is_not_prolonged_goes_to_another(self, ledger: Ledger) -> None:
        assert await ledger.take_lease("purge", holder="a", now=later(0), seconds=30)
        assert await ledger.take_lease("purge", holder="a", now=later(20), seconds=30)
        assert not await ledger.take_lease("purge", holder="b", now=later(49), seconds=30)
        assert await ledger.take_lease("purge", holder="b", now=later(50), seconds=30)
        assert not await ledger.take_lease("purge", holder="a", now=later(51), seconds=30)
        assert await ledger.leases(now=later(80)) == []

    async def test_only_its_holder_ends_a_lease(self, ledger: Ledger) -> None:
        await ledger.take_lease("purge", holder="a", now=later(0), seconds=30)
        await ledger.end_lease("purge", holder="b")
        assert not await ledger.take_lease("purge", holder="b", now=later(1), seconds=30)
        await ledger.end_lease("purge", holder="a")
        assert await ledger.take_lease("purge", holder="b", now=later(1), seconds=30)

    async def test_a_clock_that_was_set_back_does_not_keep_a_duty_for_ever(self, ledger: Ledger) -> None:
        assert await ledger.take_lease("purge", holder="a", now=later(0), seconds=30)
        assert not await ledger.take_lease("purge", holder="b", now=later(-30), seconds=30)
        assert await ledger.take_lease("purge", holder="b", now=later(0) - timedelta(days=1), seconds=30)

    async def test_a_turn_is_kept_by_the_name_of_its_chore(self, ledger: Ledger) -> None:
        assert await ledger.next_turn("purge") is None
        await ledger.set_turn("purge", at=later(60))
        await ledger.set_turn("purge", at=later(70))
        await ledger.set_turn("other", at=later(80))
        assert [await ledger.next_turn(chore) for chore in ("purge", "other")] == [later(70), later(80)]
