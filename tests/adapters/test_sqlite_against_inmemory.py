"""Any sequence of calls has the same outcome, errors included, on SQLite and on the plain dictionaries."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.sqlite import SqliteLedger
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.scope import Scope
from commonplace.domain.values import Block, FactId, MessageId, SessionId
from commonplace.ports.jobs import Job
from commonplace.ports.ledger import Change, Ledger, MessageQuery, Reinforced
from tests.contracts.ledger.values import (
    ANA,
    BEN,
    NOBODY,
    a_fact,
    a_vector,
    closed,
    ended,
    happened,
    later,
    new_message,
    new_version,
    said,
)

T = TypeVar("T")
Call = Callable[[Ledger], Awaitable[object]]
SCOPES = [ANA, BEN, NOBODY]
SESSIONS = [SessionId("s0"), SessionId("s1")]

scopes = st.sampled_from(SCOPES)
sessions = st.sampled_from(SESSIONS)
messages = st.sampled_from([f"m{n}" for n in range(5)])
facts = st.sampled_from([f"f{n}" for n in range(3)])
versions = st.integers(1, 3)
moments = st.integers(0, 100).map(float)
nows = moments.map(later)
names = st.sampled_from(["a", "b", "c"])


def few(values: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(values, max_size=2)


new_messages = few(
    st.builds(
        new_message,
        messages,
        at=moments,
        session=st.none() | sessions,
        passages=st.sampled_from([0, 1, 1, 1, 2, 3]),
        vector=st.booleans(),
    )
)
closings = few(st.builds(closed, facts, versions, at=moments, replaced_by=st.none() | facts))
new_versions = few(
    st.builds(
        a_fact,
        facts,
        version=versions,
        at=moments,
        attribute=st.sampled_from(["home", "uses"]),
        retracted_at=st.none() | nows,
    ).map(new_version)
)
reinforcements = few(st.builds(Reinforced, fact=facts.map(FactId), version=versions, confidence=st.floats(0, 1)))
sources = few(st.builds(said, facts, messages) | st.builds(ended, facts, messages))
history = few(st.builds(happened, st.just("revised"), facts, versions, at=moments, message=st.none() | messages))
ttls = st.none() | st.floats(1, 50)

# A change of everything is nearly always refused, so most are of one kind.
changes = st.one_of(
    st.builds(Change, messages=new_messages, session_ttl=ttls),
    st.builds(Change, messages=new_messages, versions=new_versions),
    st.builds(Change, closed=closings, versions=new_versions),
    st.builds(Change, reinforced=reinforcements),
    st.builds(Change, messages=new_messages, sources=sources),
    st.builds(Change, history=history, facts_seen=st.none() | st.integers(0, 3)),
    st.builds(
        Change,
        messages=new_messages,
        closed=closings,
        versions=new_versions,
        reinforced=reinforcements,
        sources=sources,
        history=history,
        session_ttl=ttls,
        facts_seen=st.none() | st.integers(0, 3),
    ),
)


def calls() -> st.SearchStrategy[Call]:
    return st.one_of(
        *[st.builds(lambda scope, change: lambda on: on.write(scope, change), scopes, changes)] * 4,
        st.builds(
            lambda scope, n, seed: lambda on: on.set_vectors(scope, {n: a_vector(seed)}),
            scopes,
            st.integers(1, 8),
            st.integers(0, 9),
        ),
        st.builds(
            lambda scope, name, order, now: (
                lambda on: on.set_block(scope, Block(name=name, text=name, order=order, updated_at=now))
            ),
            scopes,
            names,
            st.integers(-1, 3),
            nows,
        ),
        st.builds(lambda scope, name, now: lambda on: on.append_block(scope, name, "x", now=now), scopes, names, nows),
        st.builds(lambda scope, name: lambda on: on.delete_block(scope, name), scopes, names),
        st.builds(
            lambda scope, session, value, now, ttl: (
                lambda on: on.update_session(scope, session, {"key": value, "other": ttl}, now=now, ttl=ttl)
            ),
            scopes,
            sessions,
            st.none() | st.integers(),
            nows,
            st.floats(1, 50),
        ),
        st.builds(
            lambda scope, session, now: lambda on: on.touch_session(scope, session, now=now, ttl=20),
            scopes,
            sessions,
            nows,
        ),
        st.builds(
            lambda scope, session, now: lambda on: on.end_session(scope, session, now=now), scopes, sessions, nows
        ),
        st.builds(lambda now: lambda on: on.clean_sessions(now=now), nows),
        st.builds(
            lambda scope, name, now: (
                lambda on: on.enqueue(Job(id=name, scope=scope, kind=name, payload=[name], epoch=0, run_at=now))
            ),
            scopes,
            names,
            nows,
        ),
        st.builds(
            lambda kinds, now, limit: lambda on: on.claim(kinds=kinds, now=now, lease=10, limit=limit),
            st.lists(names),
            nows,
            st.integers(0, 3),
        ),
        st.builds(lambda name, now: lambda on: on.retry(name, run_at=now, error="failed"), names, nows),
        st.builds(lambda name: lambda on: on.bury(name, error="failed"), names),
        st.builds(lambda name: lambda on: on.finish(name), names),
        st.builds(lambda wanted, now: lambda on: on.replay("acme", wanted, now=now), st.none() | st.lists(names), nows),
    )


def views(scope: Scope) -> Sequence[Call]:
    """Return every way to look at what a user holds."""
    message_ids = [MessageId(f"m{n}") for n in range(5)]
    fact_ids = [FactId(f"f{n}") for n in range(3)]
    return [
        lambda on: on.feed(scope),
        lambda on: on.feed(scope, since=2, vectors=False),
        lambda on: on.messages(scope, MessageQuery(limit=3)),
        lambda on: on.messages(scope, MessageQuery(limit=2, session=SESSIONS[0], before=(later(50), 4))),
        lambda on: on.messages_by_id(scope, message_ids),
        lambda on: on.facts_by_id(scope, fact_ids),
        lambda on: on.all_versions(scope),
        lambda on: on.believed(scope),
        lambda on: on.believed(scope, attributes=[("user", "home")]),
        lambda on: on.taught(scope, message_ids),
        lambda on: on.blocks(scope),
        lambda on: on.active_sessions(scope, now=later(60)),
        *(partial(_session, scope=scope, session=session) for session in SESSIONS),
        *(partial(_history, scope=scope, fact=fact) for fact in fact_ids),
    ]


async def _session(on: Ledger, *, scope: Scope, session: SessionId) -> object:
    return await on.session_info(scope, session), await on.session_state(scope, session, now=later(60))


async def _history(on: Ledger, *, scope: Scope, fact: FactId) -> object:
    return await on.history(scope, fact), await on.sources(scope, fact)


async def outcome(call: Call, on: Ledger) -> object:
    try:
        return await call(on)
    except CommonplaceError as error:
        return type(error), str(error)


@settings(max_examples=80)
@given(st.lists(calls(), min_size=1, max_size=30))
async def test_sqlite_does_what_the_dictionaries_do(steps: list[Call]) -> None:
    plain = InMemoryLedger()
    async with SqliteLedger(None) as sqlite:
        for step in steps:
            assert await outcome(step, sqlite) == await outcome(step, plain)
        for scope in SCOPES:
            for view in views(scope):
                assert await view(sqlite) == await view(plain)
        assert await sqlite.jobs("acme") == await plain.jobs("acme")
        assert await sqlite.counts("acme") == await plain.counts("acme")
        assert await sqlite.scopes("acme") == await plain.scopes("acme")
        assert await sqlite.check() == []
