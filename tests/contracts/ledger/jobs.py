import asyncio
from dataclasses import replace

import pytest

from commonplace.domain.errors import InvalidInput, NotFound, Overtaken
from commonplace.domain.scope import Scope
from commonplace.domain.usage import NOTHING, Usage
from commonplace.domain.values import MessageId
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, Ledger
from tests.contracts.ledger.values import ANA, BEN, NOBODY, OTHER_ANA, START, added, later, learned, new_message, said


def a_job(id_: str = "j1", *, scope: Scope = ANA, kind: str = "learn", run_at: float = 0) -> Job:
    return Job(id=id_, scope=scope, kind=kind, payload={"messages": ["m1"]}, epoch=0, run_at=later(run_at))


async def claimed(ledger: Ledger, at: float, *, limit: int = 10, lease: float = 60) -> list[str]:
    return [job.id for job in await ledger.claim(kinds=["learn"], now=later(at), lease=lease, limit=limit)]


class JobsContract:
    async def test_a_claimed_job_comes_with_all_it_has(self, ledger: Ledger) -> None:
        for job in (a_job("j1"), a_job("j2", scope=NOBODY)):
            await ledger.enqueue(job)
        jobs = await ledger.claim(kinds=["learn"], now=later(1), lease=60, limit=2)
        running = [replace(a_job("j1"), status="running", attempts=1)]
        assert jobs == [*running, replace(a_job("j2", scope=NOBODY), status="running", attempts=1)]

    async def test_a_job_is_claimed_once(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        assert await claimed(ledger, 0) == ["j1"]
        assert await claimed(ledger, 59) == []

    async def test_each_job_goes_to_one_of_many_who_ask_at_once(self, ledger: Ledger) -> None:
        for n in range(20):
            await ledger.enqueue(a_job(f"j{n}"))
        got = await asyncio.gather(*(claimed(ledger, 1, limit=3) for _ in range(10)))
        assert sorted(id_ for ids in got for id_ in ids) == sorted(f"j{n}" for n in range(20))

    async def test_a_job_waits_for_its_time(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job(run_at=10))
        assert await claimed(ledger, 9.999) == []
        assert await claimed(ledger, 10) == ["j1"]

    async def test_a_job_whose_lease_has_run_out_is_taken_again(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        assert await claimed(ledger, 0, lease=60) == ["j1"]
        (again,) = await ledger.claim(kinds=["learn"], now=later(60), lease=60)
        assert (again.id, again.attempts) == ("j1", 2)

    async def test_the_oldest_due_comes_first(self, ledger: Ledger) -> None:
        for id_, run_at in (("late", 30), ("first", 10), ("second", 20), ("also second", 20)):
            await ledger.enqueue(a_job(id_, run_at=run_at))
        assert await claimed(ledger, 25, limit=2) == ["first", "second"]
        assert await claimed(ledger, 50) == ["also second", "late"]

    async def test_only_the_kinds_asked_for_are_taken(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job("j1", kind="summarise"))
        assert await claimed(ledger, 1) == []
        assert await ledger.claim(kinds=[], now=later(1), lease=1) == []
        jobs = await ledger.claim(kinds=["learn", "summarise"], now=later(1), lease=1)
        assert [job.id for job in jobs] == ["j1"]

    async def test_a_finished_job_is_gone(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        await claimed(ledger, 0)
        await ledger.finish("j1")
        await ledger.finish("j1")
        assert await ledger.jobs("acme") == []
        assert await claimed(ledger, 1000) == []

    async def test_a_job_can_be_put_off_with_its_error(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        await claimed(ledger, 0)
        await ledger.retry("j1", run_at=later(100), error="the model did not answer")
        assert await ledger.jobs("acme") == [replace(a_job(run_at=100), attempts=1, error="the model did not answer")]
        assert await claimed(ledger, 99) == []
        assert await claimed(ledger, 100) == ["j1"]

    async def test_a_dead_job_is_kept_and_not_taken(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        await claimed(ledger, 0)
        await ledger.bury("j1", error="failed for good")
        assert await claimed(ledger, 1000) == []
        assert await ledger.jobs("acme", status="dead") == [
            replace(a_job(), status="dead", attempts=1, error="failed for good")
        ]
        assert await ledger.jobs("acme", status="queued") == []

    async def test_dead_jobs_can_be_replayed(self, ledger: Ledger) -> None:
        for n in range(4):
            await ledger.enqueue(a_job(f"j{n}"))
        await claimed(ledger, 0)
        for n in range(3):
            await ledger.bury(f"j{n}", error="failed")
        assert await ledger.replay("acme", ["j0", "j3", "j9"], now=later(10)) == 1
        assert await ledger.jobs("acme", status="queued") == [replace(a_job("j0", run_at=10), attempts=0)]
        assert await ledger.replay("other", now=later(10)) == 0
        assert await ledger.replay("acme", now=later(10)) == 2
        assert await claimed(ledger, 10) == ["j0", "j1", "j2"]

    async def test_putting_off_or_burying_what_is_gone_is_no_error(self, ledger: Ledger) -> None:
        await ledger.retry("j1", run_at=later(1), error="")
        await ledger.bury("j1", error="")
        assert await ledger.jobs("acme") == []

    async def test_the_same_job_twice_is_one_job(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        await ledger.enqueue(a_job(run_at=99))
        assert await ledger.jobs("acme") == [a_job()]

    async def test_a_tenant_sees_its_own_jobs(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job("j1"))
        await ledger.enqueue(a_job("j2", scope=OTHER_ANA))
        assert [job.id for job in await ledger.jobs("acme")] == ["j1"]
        assert [job.id for job in await ledger.jobs("other")] == ["j2"]

    async def test_the_list_of_jobs_is_limited(self, ledger: Ledger) -> None:
        for n in range(5):
            await ledger.enqueue(a_job(f"j{n}", run_at=n))
        assert [job.id for job in await ledger.jobs("acme", limit=2)] == ["j0", "j1"]
        with pytest.raises(InvalidInput, match="-1"):
            await ledger.jobs("acme", limit=-1)
        with pytest.raises(InvalidInput, match="0"):
            await ledger.claim(kinds=["learn"], now=later(9), lease=1, limit=0)

    async def test_a_job_makes_no_user(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        assert await ledger.scopes("acme") == {}

    async def test_the_forget_epoch_starts_at_0(self, ledger: Ledger) -> None:
        assert await ledger.epoch(ANA) == 0

    async def test_jobs_are_queued_with_the_messages_that_give_them(self, ledger: Ledger) -> None:
        await ledger.write(ANA, Change(messages=[new_message("m1")], jobs=[a_job("j1"), a_job("j2")]))
        assert [job.id for job in await ledger.jobs("acme")] == ["j1", "j2"]

    async def test_a_message_that_is_known_gives_no_job_again(self, ledger: Ledger) -> None:
        change = Change(messages=[new_message("m1")], jobs=[a_job()])
        await ledger.write(ANA, change)
        await ledger.finish("j1")
        await ledger.write(ANA, change, Change(messages=[new_message("m2")], jobs=[a_job("j2")]))
        assert [job.id for job in await ledger.jobs("acme")] == ["j2"]

    async def test_a_refused_change_queues_and_finishes_nothing(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job("j1"))
        broken = Change(messages=[new_message("m1")], sources=[said()], jobs=[a_job("j2")], finished_jobs=["j1"])
        with pytest.raises(NotFound):
            await ledger.write(ANA, broken)
        assert [job.id for job in await ledger.jobs("acme")] == ["j1"]

    async def test_what_a_job_writes_and_its_end_are_one(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        await ledger.write(ANA, Change(finished_jobs=["j1"], epoch=0), learned())
        assert await ledger.jobs("acme") == []
        with pytest.raises(Overtaken, match="j1"):
            await ledger.write(ANA, Change(finished_jobs=["j1"]), learned("f2", "m2"))
        assert [fact.id for fact in await ledger.believed(ANA)] == ["f1"]
        assert await ledger.messages_by_id(ANA, [MessageId("m2")]) == {}

    async def test_what_rests_on_another_epoch_is_not_written(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        with pytest.raises(Overtaken):
            await ledger.write(ANA, replace(added("m1"), epoch=7, finished_jobs=["j1"]))
        assert await ledger.messages_by_id(ANA, [MessageId("m1")]) == {}
        assert [job.id for job in await ledger.jobs("acme")] == ["j1"]

    async def test_in_turn_a_user_has_one_job_running(self, ledger: Ledger) -> None:
        for id_, scope, run_at in (("a2", ANA, 2), ("a1", ANA, 1), ("b1", BEN, 3), ("o1", OTHER_ANA, 4)):
            await ledger.enqueue(a_job(id_, scope=scope, run_at=run_at))

        async def taken(at: float, *, limit: int = 10) -> list[str]:
            jobs = await ledger.claim(
                kinds=["learn"], now=later(at), lease=60, limit=limit, tenant="acme", in_turn=True
            )
            return [job.id for job in jobs]

        assert await taken(10, limit=1) == ["a1"]
        assert await taken(10) == ["b1"]
        assert await taken(11) == []
        await ledger.finish("a1")
        assert await taken(12) == ["a2"]

    async def test_a_lease_can_be_renewed_by_who_holds_it(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        (job,) = await ledger.claim(kinds=["learn"], now=later(0), lease=60)
        assert await ledger.renew(job, now=later(50), lease=60)
        assert await claimed(ledger, 100) == []
        assert await claimed(ledger, 110) == ["j1"]
        assert not await ledger.renew(job, now=later(111), lease=60)
        await ledger.finish("j1")
        assert not await ledger.renew(job, now=later(112), lease=60)

    async def test_a_job_handed_back_was_never_tried(self, ledger: Ledger) -> None:
        await ledger.enqueue(a_job())
        (job,) = await ledger.claim(kinds=["learn"], now=later(1), lease=60)
        await ledger.hand_back(job)
        assert await ledger.jobs("acme") == [a_job()]
        (again,) = await ledger.claim(kinds=["learn"], now=later(2), lease=60)
        await ledger.hand_back(replace(job, attempts=7))
        assert await ledger.jobs_by_id(["j1", "j9"]) == {"j1": again}

    async def test_usage_adds_up_by_tenant_and_day(self, ledger: Ledger) -> None:
        day, once = START.date(), Usage(requests=1, input_tokens=20, output_tokens=3, ungrounded=2)
        for _ in range(2):
            await ledger.count_usage("acme", day, once)
        assert await ledger.usage("acme", day) == once + once
        assert await ledger.usage("other", day) == NOTHING
        assert await ledger.usage("acme", later(86_400).date()) == NOTHING
