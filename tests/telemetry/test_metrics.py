"""Metrics in the format that Prometheus reads."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from forge.telemetry import Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(version="1.2.3")


def read(metrics: Metrics, *names: str) -> dict[str, float]:
    """Return samples by name with labels, such as `forge_runs_started_total{kind=build}`."""
    families = text_string_to_metric_families(metrics.render()[0].decode())
    samples = [sample for family in families for sample in family.samples]
    return {
        sample.name
        + "".join(f"{{{name}={value}}}" for name, value in sorted(sample.labels.items())): sample.value
        for sample in samples
        if not names or sample.name in names
    }


def test_everything_is_counted_under_its_labels(metrics: Metrics):
    metrics.request_served("GET", "/api/v1/runs/{id}", 200, 0.02)
    metrics.request_served("GET", "/api/v1/runs/{id}", 404, 0.03)
    metrics.run_started("workflow")
    metrics.run_finished("workflow", "failed")
    metrics.step_finished("workflow", "ok", 0.5)
    metrics.step_finished("workflow", "error", 1.5)
    metrics.event_appended("run.started")
    metrics.gates_open(3)
    counted = {
        name: value
        for name, value in read(metrics).items()
        if name.startswith("forge_") and "_bucket" not in name and "_created" not in name
    }
    assert counted == {
        "forge_http_requests_total{method=GET}{route=/api/v1/runs/{id}}{status=200}": 1,
        "forge_http_requests_total{method=GET}{route=/api/v1/runs/{id}}{status=404}": 1,
        "forge_http_request_seconds_count{route=/api/v1/runs/{id}}": 2,
        "forge_http_request_seconds_sum{route=/api/v1/runs/{id}}": pytest.approx(0.05),
        "forge_runs_started_total{kind=workflow}": 1,
        "forge_runs_finished_total{kind=workflow}{status=failed}": 1,
        "forge_run_steps_total{kind=workflow}{outcome=ok}": 1,
        "forge_run_steps_total{kind=workflow}{outcome=error}": 1,
        "forge_run_step_seconds_count{kind=workflow}": 2,
        "forge_run_step_seconds_sum{kind=workflow}": 2,
        "forge_events_appended_total{type=run.started}": 1,
        "forge_websocket_clients": 0,
        "forge_gates_open": 3,
        "forge_build_info{version=1.2.3}": 1,
    }


def test_clients_cannot_create_labels(metrics: Metrics):
    for method in ("BREW", "PROPFIND"):
        metrics.request_served(method, None, 405, 0.001)
    assert read(metrics, "forge_http_requests_total") == {
        "forge_http_requests_total{method=other}{route=none}{status=405}": 2
    }


def test_websocket_clients_are_counted_while_connected(metrics: Metrics):
    with metrics.websocket_client(), metrics.websocket_client():
        assert read(metrics, "forge_websocket_clients") == {"forge_websocket_clients": 2}
    with pytest.raises(ConnectionError), metrics.websocket_client():
        raise ConnectionError
    assert read(metrics, "forge_websocket_clients") == {"forge_websocket_clients": 0}


def test_hour_long_step_has_a_bucket(metrics: Metrics):
    metrics.step_finished("build", "ok", 2000)
    buckets = read(metrics, "forge_run_step_seconds_bucket")
    assert buckets["forge_run_step_seconds_bucket{kind=build}{le=900.0}"] == 0
    assert buckets["forge_run_step_seconds_bucket{kind=build}{le=3600.0}"] == 1


def test_process_metrics_are_collected(metrics: Metrics):
    assert read(metrics, "process_resident_memory_bytes")["process_resident_memory_bytes"] > 1_000_000


def test_two_registries_are_independent(metrics: Metrics):
    other = Metrics(version="1.2.3")
    other.run_started("build")
    assert read(metrics, "forge_runs_started_total") == {}


def test_content_type_is_text_format(metrics: Metrics):
    assert metrics.render()[1] == "text/plain; version=0.0.4; charset=utf-8"
