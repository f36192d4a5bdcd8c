from dataclasses import replace

import pytest

from commonplace.domain.errors import OnHold
from commonplace.domain.receipts import Part
from commonplace.domain.retention import Due, Hold
from commonplace.domain.values import FactId, MessageId
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import Change, Ledger, NewMessage
from tests.contracts.ledger.values import ANA, BEN, a_fact, happened, later, learned, new_message, new_version

HOLD = Hold(user=ANA.user, since=later(5), reason="a lawsuit")


def expiring(new: NewMessage, seconds: float) -> NewMessage:
    return replace(new, message=replace(new.message, expires_at=later(seconds)))


class RetentionContract:
    async def test_messages_are_due_by_their_expiry_or_by_their_age(self, ledger: Ledger) -> None:
        old, young = new_message("old", at=0), new_message("young", at=90)
        await ledger.write(ANA, Change(messages=[old, young, expiring(new_message("expires", at=95), 100)]))
        await ledger.write(BEN, Change(messages=[old]))
        aged = Part(due=Due(at=later(99), said_before={"message": later(50)}))
        assert await ledger.chosen(ANA, aged) == [MessageId("old")]
        assert await ledger.chosen(ANA, Part(due=Due(at=later(100)))) == [MessageId("expires")]
        assert await ledger.chosen(ANA, Part(due=Due(at=later(99)))) == []

    async def test_facts_are_due_by_when_they_were_last_said(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        due = Due(at=later(100), said_before={"fact": later(50)})
        assert await ledger.due_facts(ANA, due) == [FactId("f1")]
        assert await ledger.due_facts(BEN, due) == []
        again = happened("reinforced", at=60)
        await ledger.write(ANA, Change(history=[again]))
        assert await ledger.due_facts(ANA, due) == []

    async def test_facts_are_due_by_their_kind_and_by_their_expiry(self, ledger: Ledger) -> None:
        liked = a_fact("f2", "likes tea", kind="preference")
        gone = replace(a_fact("f3", "is in Rome", at=90), expires_at=later(95))
        await ledger.write(ANA, Change(versions=[new_version(liked), new_version(gone)]))
        assert await ledger.due_facts(ANA, Due(at=later(99), said_before={"fact": later(50)})) == [FactId("f3")]
        assert await ledger.due_facts(ANA, Due(at=later(94), said_before={"preference": later(50)})) == [FactId("f2")]

    async def test_a_hold_keeps_a_user_until_it_is_released(self, ledger: Ledger) -> None:
        await ledger.write(ANA, learned())
        await ledger.write(BEN, learned())
        assert await ledger.hold(ANA, HOLD) == HOLD
        assert await ledger.hold(ANA, replace(HOLD, reason="another")) == HOLD
        assert (await ledger.holds(ANA.tenant), await ledger.holds("other")) == ([HOLD], [])
        for dry_run in (True, False):
            with pytest.raises(OnHold, match="ana"):
                await ledger.erase(ANA, Removal(id="e1", what=Part(), at=later(9)), dry_run=dry_run)
            with pytest.raises(OnHold, match="ana"):
                await ledger.erase_tenant(ANA.tenant, at=later(9), new_id=lambda: "e2", dry_run=dry_run)
        assert [(await ledger.counts_of(scope)).messages for scope in (ANA, BEN)] == [1, 1]
        assert [await ledger.release(ANA), await ledger.release(ANA)] == [True, False]
        await ledger.erase(ANA, Removal(id="e1", what=Part(), at=later(9)))
        assert (await ledger.counts_of(ANA)).messages == 0
