from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from commonplace.domain.keys import new_key
from commonplace.domain.receipts import Part
from commonplace.domain.scope import Scope
from commonplace.ports.answers import Answer, Answers, Asked
from commonplace.ports.erasure import Removal
from commonplace.ports.keys import KeyRing
from commonplace.ports.ledger import Ledger
from tests.contracts.ledger.values import ANA, BEN, START, later

ANSWER = Answer(status=201, headers={"content-type": "application/json", "etag": '"1"'}, body=b'{"text": "\xc3\xa9"}')


class Serving(Ledger, KeyRing, Answers, Protocol):
    pass


def asked(key: str = "k", *, owner: str = "o", digest: bytes = b"d", tenant: str = ANA.tenant) -> Asked:
    return Asked(tenant=tenant, owner=owner, key=key, digest=digest)


async def forget(ledger: Serving, scope: Scope) -> None:
    await ledger.erase(scope, Removal(id="f", what=Part(), at=START))


class ServingContract:
    """A ledger that a service can stand on: it keeps keys, and the answers that were given."""

    async def test_a_key_comes_back_as_it_was(self, ledger: Serving) -> None:
        plain, _ = new_key(tenant="t", user=None, role="read", label="", now=START)
        narrow, token = new_key(tenant="t\0x", user="ü", role="admin", label="ci", now=later(1), expires_at=later(9))
        for key in (plain, narrow):
            await ledger.add_key(key)
        assert await ledger.find_key(plain.id) == plain
        assert await ledger.find_key(narrow.id) == narrow
        assert await ledger.find_key("nobody") is None
        assert list(await ledger.keys()) == [plain, narrow]
        assert list(await ledger.keys("t")) == [plain]
        assert narrow.fits(token.secret)
        assert not plain.fits(token.secret)

    async def test_a_key_is_revoked_once_and_for_good(self, ledger: Serving) -> None:
        key, _ = new_key(tenant="t", user=None, role="read", label="", now=START)
        await ledger.add_key(key)
        assert await ledger.revoke_key(key.id, at=later(1))
        assert not await ledger.revoke_key(key.id, at=later(2))
        assert not await ledger.revoke_key("nobody", at=later(2))
        assert await ledger.find_key(key.id) == replace(key, revoked_at=later(1))

    async def test_only_a_key_that_opens_something_counts(self, ledger: Serving) -> None:
        key, _ = new_key(tenant="t", user=None, role="read", label="", now=START, expires_at=later(5))
        assert not await ledger.any_usable_key(now=START)
        await ledger.add_key(key)
        assert await ledger.any_usable_key(now=later(4))
        assert not await ledger.any_usable_key(now=later(5))
        await ledger.revoke_key(key.id, at=later(1))
        assert not await ledger.any_usable_key(now=later(2))

    async def test_who_asks_again_gets_the_same_answer(self, ledger: Serving) -> None:
        assert await ledger.begin_answer(asked(), now=START, lease=60) is None
        assert await ledger.begin_answer(asked(), now=START, lease=60) == "running"
        await ledger.keep_answer(asked(), ANSWER, whose=ANA, until=later(100))
        assert await ledger.begin_answer(asked(), now=later(1), lease=60) == ANSWER
        assert await ledger.begin_answer(asked(digest=b"e"), now=later(1), lease=60) == "another"
        assert await ledger.begin_answer(asked(owner="p"), now=later(1), lease=60) is None

    async def test_what_came_to_nothing_may_be_tried_again(self, ledger: Serving) -> None:
        await ledger.begin_answer(asked(), now=START, lease=60)
        await ledger.drop_answer(asked())
        assert await ledger.begin_answer(asked(digest=b"e"), now=START, lease=60) is None

    async def test_a_request_whose_server_died_is_free_after_its_lease(self, ledger: Serving) -> None:
        await ledger.begin_answer(asked(), now=START, lease=60)
        assert await ledger.begin_answer(asked(), now=START + timedelta(seconds=59), lease=60) == "running"
        assert await ledger.begin_answer(asked(), now=START + timedelta(seconds=60), lease=60) is None

    async def test_an_answer_is_kept_for_its_time(self, ledger: Serving) -> None:
        await ledger.begin_answer(asked(), now=START, lease=60)
        await ledger.keep_answer(asked(), ANSWER, whose=ANA, until=START + timedelta(days=1))
        assert await ledger.begin_answer(asked(), now=START + timedelta(hours=23), lease=60) == ANSWER
        assert await ledger.begin_answer(asked(), now=START + timedelta(days=1), lease=60) is None

    async def test_a_forget_empties_the_answers_of_its_user_and_keeps_their_keys_taken(self, ledger: Serving) -> None:
        for key, whose in (("hers", ANA), ("his", BEN), ("all", None)):
            await ledger.begin_answer(asked(key), now=START, lease=60)
            await ledger.keep_answer(asked(key), ANSWER, whose=whose, until=later(100))
        await ledger.begin_answer(asked("running"), now=START, lease=60)
        await forget(ledger, ANA)
        await ledger.keep_answer(asked("running"), ANSWER, whose=ANA, until=later(100))
        found = {key: await ledger.begin_answer(asked(key), now=later(1), lease=60) for key in ("hers", "all", "his")}
        assert found == {"hers": "forgotten", "all": "forgotten", "his": ANSWER}
        assert await ledger.begin_answer(asked("running"), now=later(1), lease=60) == "forgotten"

    async def test_a_forget_of_another_tenant_leaves_answers_alone(self, ledger: Serving) -> None:
        await ledger.begin_answer(asked(), now=START, lease=60)
        await ledger.keep_answer(asked(), ANSWER, whose=None, until=later(100))
        await forget(ledger, Scope("another", ANA.user))
        assert await ledger.begin_answer(asked(), now=later(1), lease=60) == ANSWER
