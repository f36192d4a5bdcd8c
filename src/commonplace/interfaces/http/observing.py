"""What can be seen of the service from outside: numbers for Prometheus, a line a request in the log, never content.

What is counted is told apart by route, tenant-blind: ids and names of users are nobody's labels. Where several
processes answer on one port, each says which one it is beside what it has counted: without that, Prometheus would take
the smaller number of another process for a restart.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from types import TracebackType

from opentelemetry import trace
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.registry import Collector
from starlette.types import Scope

from commonplace.domain.results import Stats
from commonplace.interfaces.http.access import Caller
from commonplace.memory import AsyncMemory

LOG = logging.getLogger("commonplace.http")
TRACER = trace.get_tracer("commonplace")
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MEDIA_TYPE = CONTENT_TYPE_LATEST


class Observer:
    """The numbers of one service: what this process has counted, and what every process would say of the memory."""

    def __init__(self, *, process: str | None = None) -> None:
        """`process` names this one among several that answer on one port."""
        registry, held = CollectorRegistry(), CollectorRegistry()
        self._told = (registry if process is None else _Named(registry, process), held)
        self._seconds = Histogram(
            "commonplace_request_seconds",
            "Until an answer was complete.",
            ["operation"],
            registry=registry,
            buckets=SECONDS,
        )
        self._stages = Histogram(
            "commonplace_stage_seconds", "One stage of a request.", ["stage"], registry=registry, buckets=SECONDS
        )
        self._taken: dict[str, Histogram] = {}
        self._answers = Counter(
            "commonplace_requests", "Answers, by status.", ["operation", "status"], registry=registry
        )
        self._failures = Counter("commonplace_failures", "Answers of 400 and more.", ["kind"], registry=registry)
        self._bytes = Histogram(
            "commonplace_request_bytes",
            "Size of a request.",
            ["operation"],
            registry=registry,
            buckets=(100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        )
        self._held = Gauge("commonplace_held", "What is held, by what it is.", ["what"], registry=held)
        self._jobs = Gauge("commonplace_jobs", "Work that waits, by status.", ["status"], registry=held)
        self._oldest = Gauge("commonplace_oldest_job_seconds", "How long the oldest job is overdue.", registry=held)
        self._lag = Gauge("commonplace_index_lag", "Writes that the index has not been given.", registry=held)
        self._cache = Gauge(
            "commonplace_cache", "Users, bytes and hits of the rows in RAM.", ["what"], registry=registry
        )
        self._index = Gauge(
            "commonplace_index", "Whether the index is up (1), and what it did so far.", ["what"], registry=registry
        )
        self._redis = Gauge(
            "commonplace_redis", "Whether Redis is up (1), and what it did so far.", ["what"], registry=registry
        )
        self._cost = Gauge(
            "commonplace_learning_cost_today", "Of those tokens, by the prices that are set.", registry=held
        )
        self._tokens = Gauge("commonplace_learning_tokens_today", "Tokens of models.", ["direction"], registry=held)

    def __call__(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request, and write a line about it."""
        operation, state = operation_of(scope), scope["state"]
        self._seconds.labels(operation).observe(seconds)
        self._answers.labels(operation, str(status)).inc()
        self._bytes.labels(operation).observe(len(state.get("body", b"")))
        if status >= 400:
            self._failures.labels(str(state.get("problem", status))).inc()
        caller = state.get("caller")
        told = {
            "request_id": state["request_id"],
            "operation": operation,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": caller.key if isinstance(caller, Caller) else None,
        }
        LOG.info("request", extra={"told": told})

    def stage(self, name: str) -> "Stage":
        """Time a stage and make a span of it: its name and how long it took, nothing else."""
        taken = self._taken.get(name)
        if taken is None:
            taken = self._taken[name] = self._stages.labels(name)
        return Stage(name, taken)

    async def exposition(self, memories: Sequence[AsyncMemory], *, now: datetime) -> bytes:
        """Return all numbers, in the form that Prometheus reads; those of the memories are looked up now."""
        self._take([await memory.stats() for memory in memories])
        due = [job.run_at for memory in memories for job in await memory.jobs(status="queued", limit=1)]
        self._oldest.set(max((now - min(due)).total_seconds(), 0) if due else 0)
        return b"".join(map(generate_latest, self._told))

    def _take(self, stats: list[Stats]) -> None:
        for name in {name for one in stats for name in one.counts}:
            self._held.labels(name).set(sum(one.counts.get(name, 0) for one in stats))
        self._held.labels("bytes_on_disk").set(max((one.bytes_on_disk for one in stats), default=0))
        for status in ("queued", "running", "dead"):
            self._jobs.labels(status).set(sum(one.jobs.get(status, 0) for one in stats))
        self._lag.set(sum(part.waiting for one in stats for part in one.partitions))
        for name, value in (stats[0].cache if stats else {}).items():  # tenants share it
            self._cache.labels(name).set(value)
        for name, value in (stats[0].index_calls if stats else {}).items():
            self._index.labels(name).set(value)
        for name, value in (stats[0].copies if stats else {}).items():
            self._redis.labels(name).set(value)
        self._cost.set(sum(one.learning.cost or 0 for one in stats))
        self._tokens.labels("input").set(sum(one.learning.usage.input_tokens for one in stats))
        self._tokens.labels("output").set(sum(one.learning.usage.output_tokens for one in stats))


class _Named(Collector):
    """What a registry holds, with the name of this process beside every number."""

    def __init__(self, registry: CollectorRegistry, process: str) -> None:
        self._registry, self._process = registry, process

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            metric.samples = [
                sample._replace(labels={**sample.labels, "process": self._process}) for sample in metric.samples
            ]
            yield metric


class Stage:
    """One stage, while it lasts. A request passes some ten of them, so it is no generator, and makes no idle spans."""

    __slots__ = ("_began", "_name", "_span", "_taken")

    def __init__(self, name: str, taken: Histogram) -> None:
        self._name, self._taken = name, taken

    def __enter__(self) -> None:
        self._began, self._span = time.perf_counter(), None
        if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):  # somebody wants spans
            self._span = TRACER.start_as_current_span(self._name, record_exception=False, set_status_on_exception=False)
            self._span.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._span is not None:
            self._span.__exit__(kind, error, traceback)
        self._taken.observe(time.perf_counter() - self._began)


def operation_of(scope: Scope) -> str:
    """Return the route of a request, with its parameters unfilled; one name for all that is nowhere."""
    route = scope.get("route")
    path = getattr(route, "path_format", None) or getattr(route, "path", None)
    return f"{scope['method']} {path}" if path else "unknown"
