"""Any sequence of calls has the same outcome, errors included, on PostgreSQL and on the plain dictionaries."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.adapters.postgres import PostgresLedger
from commonplace.ports.ledger import Feed
from tests.adapters.test_sqlite_against_inmemory import SCOPES, Call, calls, outcome, views
from tests.servers import empty


def without_number(seen: object) -> object:
    """A partition's number is a server's own affair: one that was not committed is not given out again."""
    return seen._replace(versions=seen.versions._replace(number=0)) if isinstance(seen, Feed) else seen


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(calls(), min_size=1, max_size=30))
async def test_postgresql_does_what_the_dictionaries_do(
    postgres_shared: str, postgres_emptied: str, steps: list[Call]
) -> None:
    empty(postgres_shared)
    plain = InMemoryLedger()
    async with PostgresLedger(postgres_emptied) as postgres:
        for step in steps:
            assert await outcome(step, postgres) == await outcome(step, plain)
        for scope in SCOPES:
            for view in views(scope):
                assert without_number(await view(postgres)) == without_number(await view(plain))
        assert await postgres.jobs("acme") == await plain.jobs("acme")
        assert replace(await postgres.counts("acme"), bytes_on_disk=0) == await plain.counts("acme")
        assert set(await postgres.scopes("acme")) == set(await plain.scopes("acme"))
        assert await postgres.check() == []
