from datetime import UTC, datetime, timedelta

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.domain.retention import Retention

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def kept(text: str | None, tenant: str = "default") -> dict[str, int]:
    due = Retention.parse(text).due(tenant, at=NOW)
    return {kind: (NOW - moment).days for kind, moment in due.said_before.items()}


def test_nothing_set_keeps_everything() -> None:
    assert kept(None) == kept("") == {}


def test_a_number_is_for_every_kind() -> None:
    assert kept("365") == dict.fromkeys(("message", "fact", "preference", "semantic", "context"), 365)


def test_a_kind_has_its_own_days_and_fact_stands_for_all_kinds_of_facts() -> None:
    assert kept("message=30") == {"message": 30}
    assert kept("fact=730, preference=10") == {"fact": 730, "preference": 10, "semantic": 730, "context": 730}


def test_a_tenant_s_own_rule_comes_first() -> None:
    assert kept("365,acme/message=30,acme/100", "acme")["message"] == 30
    assert kept("365,acme/message=30,acme/100", "acme")["fact"] == 100
    assert kept("365,acme/message=30,acme/100", "other")["message"] == 365


def test_days_beyond_all_time_keep_everything() -> None:
    assert Retention.parse("999999999").due("t", at=NOW).said_before["message"] < NOW - timedelta(days=300_000)


@pytest.mark.parametrize("text", ["soon", "0", "-1", "message=", "letters=3", "1.5", "message=3=4", "\u0665"])
def test_what_is_no_rule_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match="retention_days"):
        Retention.parse(text)
