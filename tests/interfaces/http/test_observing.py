"""What can be seen from outside: numbers, lines and spans, and never a word of what somebody said."""

import asyncio
import logging
from datetime import UTC, datetime

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from commonplace.interfaces.http.observing import Observer
from commonplace.interfaces.http.routes import health
from tests.interfaces.http.conftest import Running

SECRET = "Zanzibarium"


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


async def used(server: Running) -> None:
    said = {"content": f"My dog is called {SECRET}", "user": f"{SECRET}-user", "session": SECRET}
    await server.client.post("/v1/messages", json=said, headers={"X-Request-ID": "r-1"})
    await server.client.post("/v1/recall", json={"query": SECRET, "user": f"{SECRET}-user"})
    await server.client.get(f"/v1/blocks/{SECRET}", params={"user": SECRET})
    await server.client.post("/v1/recall", json={"query": SECRET, "where": {SECRET: {"$x": 1}}})
    await server.client.get(f"/nowhere/{SECRET}")


async def test_the_numbers_tell_operations_stages_sizes_and_failures(server: Running) -> None:
    await used(server)
    told = (await server.client.get("/metrics")).text
    for line in (
        'commonplace_requests_total{operation="POST /v1/messages",status="201"} 1.0',
        'commonplace_request_seconds_count{operation="POST /v1/recall"} 2.0',
        'commonplace_stage_seconds_count{stage="ledger.write"}',
        'commonplace_stage_seconds_count{stage="embedder.read"}',
        'commonplace_held{what="messages"} 1.0',
        'commonplace_jobs{status="queued"} 0.0',
        "commonplace_index_lag 0.0",
        'commonplace_cache{what="hits"}',
        'commonplace_learning_tokens_today{direction="input"} 0.0',
        "commonplace_learning_cost_today 0.0",
        'commonplace_failures_total{kind="NotFound"} 1.0',
        'commonplace_failures_total{kind="InvalidInput"} 1.0',
    ):
        assert line in told, line
    assert SECRET not in told


async def test_one_of_several_processes_says_which_it_is_beside_what_it_has_counted_itself() -> None:
    observer = Observer(process="17")
    with observer.stage("ledger.write"):
        pass
    told = (await observer.exposition([], now=datetime.now(UTC))).decode()
    assert 'commonplace_stage_seconds_count{process="17",stage="ledger.write"} 1.0' in told
    assert 'commonplace_jobs{status="queued"} 0.0' in told
    assert "commonplace_oldest_job_seconds 0.0" in told


async def test_a_line_a_request_has_its_id_and_no_content(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await used(server)
    lines = [record for record in caplog.records if record.name == "commonplace.http"]
    first = lines[0].__dict__["told"]
    assert (first["request_id"], first["operation"], first["status"]) == ("r-1", "POST /v1/messages", 201)
    ours = [record for record in caplog.records if record.name.startswith("commonplace")]
    assert all(SECRET not in str(record.__dict__) for record in ours)


async def test_spans_name_the_stages_and_hold_no_content(server: Running, spans: InMemorySpanExporter) -> None:
    await used(server)
    made = spans.get_finished_spans()
    assert {"ledger.write", "embedder.read", "ledger.shown"} <= {span.name for span in made}
    assert SECRET not in str([span.to_json() for span in made])


async def test_readiness_says_what_is_wrong(server: Running) -> None:
    assert (await server.client.get("/readyz")).json() == {
        "status": "ok",
        "checks": {"service": "ok", "ledger": "ok", "embedder": "ok", "index": "ok"},
    }
    server.service.closing.set()
    answer = await server.client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["service"] == "about to end"


async def test_readiness_does_not_wait_for_a_ledger_that_hangs(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*, now: datetime) -> bool:
        await asyncio.Event().wait()
        return False

    monkeypatch.setattr(health, "SOON", 0.05)
    monkeypatch.setattr(server.service.keys, "any_usable_key", hang)
    answer = await server.client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["ledger"] == "LedgerUnavailable: no answer within 0.05 s"
