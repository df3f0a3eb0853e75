"""Metrics in the format of Prometheus, in a separate registry.

Labels come from small closed sets (a route is its template, never the requested path), so that clients cannot make
the number of time series grow.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_STEP_BUCKETS_S = (0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)


class Metrics:
    """The metrics of one Forge."""

    def __init__(self, *, version: str) -> None:
        # Not at the top: prometheus_client takes 90 ms to import, and only the server needs it.
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector

        self._registry = registry = CollectorRegistry()
        counter = partial(Counter, namespace="forge", registry=registry)
        gauge = partial(Gauge, namespace="forge", registry=registry)
        histogram = partial(Histogram, namespace="forge", registry=registry)
        self._requests = counter("http_requests", "HTTP requests served.", ["method", "route", "status"])
        self._request_s = histogram("http_request_seconds", "Time to serve a request.", ["route"])
        self._started = counter("runs_started", "Runs started.", ["kind"])
        self._finished = counter("runs_finished", "Runs finished.", ["kind", "status"])
        self._steps = counter("run_steps", "Steps executed.", ["kind", "outcome"])
        self._step_s = histogram("run_step_seconds", "Duration of steps.", ["kind"], buckets=_STEP_BUCKETS_S)
        self._events = counter("events_appended", "Events appended.", ["type"])
        self._calls = counter("model_calls", "Model calls.", ["role", "outcome"])
        self._spent = counter("model_cost_dollars", "Cost of model calls in dollars.", ["role"])
        self._clients = gauge("websocket_clients", "Connected WebSocket clients.")
        self._gates = gauge("gates_open", "Open gates.")
        Info("build", "Version of the running Forge.", namespace="forge", registry=registry).info(
            {"version": version}
        )
        ProcessCollector(registry=registry)

    def request_served(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count a request. `route` is the path template, None if no route matched."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route or "none", str(status)).inc()
        self._request_s.labels(route or "none").observe(seconds)

    def run_started(self, kind: str) -> None:
        self._started.labels(kind).inc()

    def run_finished(self, kind: str, status: str) -> None:
        self._finished.labels(kind, status).inc()

    def step_finished(self, kind: str, outcome: str, seconds: float) -> None:
        self._steps.labels(kind, outcome).inc()
        self._step_s.labels(kind).observe(seconds)

    def event_appended(self, event_type: str) -> None:
        self._events.labels(event_type).inc()

    def model_called(self, role: str, outcome: str, cost_micros: int) -> None:
        self._calls.labels(role, outcome).inc()
        self._spent.labels(role).inc(cost_micros / 1_000_000)

    @contextmanager
    def websocket_client(self) -> Generator[None]:
        """Count a client while it is connected."""
        with self._clients.track_inprogress():
            yield

    def gates_open(self, count: int) -> None:
        self._gates.set(count)

    def render(self) -> tuple[bytes, str]:
        """Return the metrics in text format, and the content type."""
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

        return generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4
