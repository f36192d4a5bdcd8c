"""The whole OpenAPI, tried by schemathesis: no 5xx, no undocumented answer, every refusal a problem."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    ensure_resource_availability,
    negative_data_rejection,
    positive_data_acceptance,
    use_after_free,
)

from commonplace.interfaces.http.app import openapi_document
from tests.interfaces.http.live import Live, live

EXAMPLES = 5
MANY = "99999999/minute"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(
        tmp_path_factory.mktemp("openapi"),
        key_needed=True,
        api_limit_read=MANY,
        api_limit_write=MANY,
        api_limit_costly=MANY,
    ) as running:
        running.tokens["admin"] = running.key()
        yield running


document = openapi_document()
schema = schemathesis.openapi.from_dict(document)
# A stranger's requests are drawn, some of them wrong: each boundary of each parameter would be refused alike.
drawn = schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": False}}})
stranger = schemathesis.openapi.from_dict(document, config=drawn)
LOOSE = [
    # A value may fit the schema and mean nothing: a moment without its zone, an id that nobody has, two keys at odds.
    positive_data_acceptance,
    # What breaks the schema may not survive the way: an empty list is no parameter, and a missing key is put back.
    negative_data_rejection,
    # These follow a resource from its making to its end by guessing which paths belong together.
    ensure_resource_availability,
    use_after_free,
]
few = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def check(case: schemathesis.Case[Any], url: str, headers: dict[str, str]) -> schemathesis.Response:
    answer = case.call(base_url=url, headers=headers)
    case.validate_response(answer, excluded_checks=LOOSE, headers=headers)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == ["application/problem+json"]
        assert answer.json()["status"] == answer.status_code
    return answer


@schema.parametrize()
@few
def test_every_operation_answers_as_it_says(case: schemathesis.Case[Any], service: Live) -> None:
    check(case, service.url, {"Authorization": f"Bearer {service.tokens['admin']}"})


@stranger.parametrize()
@few
def test_every_operation_refuses_who_shows_no_key(case: schemathesis.Case[Any], service: Live) -> None:
    answer = check(case, service.url, {"Authorization": "Bearer nothing"})
    assert answer.status_code == 401 or case.path in ("/healthz", "/readyz")
