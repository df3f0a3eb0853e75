"""Traces received by a collector over OTLP/HTTP on localhost."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from forge.telemetry import NoTracing, Tracing, open_tracing
from forge.telemetry.otlp import OtlpTracing

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
KEY = "ghp_" + "a1B2" * 9
HELD_UP_S = 8
"""Less than the timeout of one request to an unresponsive collector (10 s)."""


class Collector(ThreadingHTTPServer):
    """Accept and store all spans."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Accept)
        self.requests: list[tuple[str, ExportTraceServiceRequest]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def spans(self) -> dict[str, Span]:
        return {
            span.name: span
            for _, request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }


class _Accept(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        serving = threading.Thread(target=collector.serve_forever, args=(0.01,))
        serving.start()
        yield collector
        collector.shutdown()
        serving.join()


@pytest.fixture
def tracing(collector: Collector) -> Iterator[Tracing]:
    tracing = OtlpTracing(collector.endpoint, version="1.2.3", close_s=60)
    yield tracing
    tracing.close()


def attributes(span: Span) -> dict[str, object]:
    return {pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in span.attributes}


def test_span_has_service_and_attributes(collector: Collector, tracing: Tracing):
    with tracing.span("serve", route="/runs", size=3, share=0.5, cached=True, nothing=None) as span:
        span.set(status=200)
    tracing.close()
    ((path, request),) = collector.requests
    resource = {pair.key: pair.value.string_value for pair in request.resource_spans[0].resource.attributes}
    assert path == "/v1/traces"
    assert (resource["service.name"], resource["service.version"]) == ("forge", "1.2.3")
    sent = collector.spans()["serve"]
    assert attributes(sent) == {"route": "/runs", "size": 3, "share": 0.5, "cached": True, "status": 200}
    assert sent.status.code == Status.STATUS_CODE_UNSET
    assert sent.end_time_unix_nano > sent.start_time_unix_nano


async def test_spans_nest_across_awaits_and_tasks(collector: Collector, tracing: Tracing):
    together = asyncio.Barrier(2)

    async def step(name: str) -> None:
        with tracing.span(name):
            await together.wait()
            with tracing.span(f"{name}.call"):
                await together.wait()

    with tracing.span("run"):
        await asyncio.gather(step("a"), step("b"))
    await asyncio.to_thread(tracing.close)
    spans = collector.spans()
    names = {span.span_id: name for name, span in spans.items()}
    parents = {name: names.get(span.parent_span_id) for name, span in spans.items()}
    assert parents == {"run": None, "a": "run", "b": "run", "a.call": "a", "b.call": "b"}
    assert len({span.trace_id for span in spans.values()}) == 1


def test_request_continues_the_trace_of_its_caller(collector: Collector, tracing: Tracing):
    with tracing.span("serve", traceparent=PARENT) as span:
        handed_on = span.traceparent
    tracing.close()
    sent = collector.spans()["serve"]
    assert sent.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert sent.parent_span_id.hex() == "b7ad6b7169203331"
    assert handed_on == f"00-{sent.trace_id.hex()}-{sent.span_id.hex()}-01"


def test_run_continues_the_trace_of_its_request(collector: Collector, tracing: Tracing):
    with tracing.span("serve") as request:
        kept = request.traceparent
    with tracing.span("run", traceparent=kept):
        pass
    tracing.close()
    spans = collector.spans()
    assert spans["run"].parent_span_id == spans["serve"].span_id


@pytest.mark.parametrize("header", ["", "nonsense", "00-0-0-00", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
def test_malformed_traceparent_starts_a_new_trace(collector: Collector, tracing: Tracing, header: str):
    with tracing.span("serve", traceparent=header):
        pass
    tracing.close()
    sent = collector.spans()["serve"]
    assert sent.parent_span_id == b"" and sent.trace_id != bytes(16)


def test_unsampled_caller_is_not_traced(collector: Collector, tracing: Tracing):
    with tracing.span("serve", traceparent=PARENT.removesuffix("01") + "00"):
        pass
    tracing.close()
    assert collector.requests == []


def test_exception_is_recorded_without_secrets_and_propagates(collector: Collector, tracing: Tracing):
    with pytest.raises(ValueError, match="refused"), tracing.span("call", key=KEY):
        raise ValueError(f"refused {KEY}")
    tracing.close()
    sent = collector.spans()["call"]
    (event,) = sent.events
    recorded = {pair.key: pair.value.string_value for pair in event.attributes}
    assert (sent.status.code, sent.status.message) == (Status.STATUS_CODE_ERROR, "ValueError: refused •••")
    assert (recorded["exception.type"], recorded["exception.message"]) == ("ValueError", "refused •••")
    assert recorded["exception.stacktrace"].endswith("ValueError: refused •••\n")
    assert KEY not in str(sent)


async def test_cancellation_is_no_error(collector: Collector, tracing: Tracing):
    async def forever() -> None:
        with tracing.span("wait"):
            await asyncio.Event().wait()

    task = asyncio.create_task(forever())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(tracing.close)
    assert collector.spans()["wait"].status.code == Status.STATUS_CODE_UNSET


def test_process_wide_tracer_is_not_replaced(tracing: Tracing):
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def measure_spans_and_close(endpoint: str) -> tuple[float, float]:
    tracing = OtlpTracing(endpoint, version="1.2.3", close_s=0.2)
    started = time.perf_counter()
    for _ in range(5_000):
        with tracing.span("serve"):
            pass
    closing = time.perf_counter()
    tracing.close()
    return closing - started, time.perf_counter() - closing


def test_unreachable_collector_neither_raises_nor_blocks(caplog: pytest.LogCaptureFixture):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        spans_s, close_s = measure_spans_and_close(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert (spans_s < HELD_UP_S, close_s < HELD_UP_S) == (True, True)
    assert "the last traces were not delivered" in caplog.text


def test_silent_collector_neither_raises_nor_blocks(caplog: pytest.LogCaptureFixture):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        spans_s, close_s = measure_spans_and_close(f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert (spans_s < HELD_UP_S, close_s < HELD_UP_S) == (True, True)
    assert "the last traces were not delivered" in caplog.text


def test_nothing_is_traced_without_endpoint():
    tracing = open_tracing(None, version="1.2.3")
    with tracing.span("serve", traceparent=PARENT, size=1) as span:
        span.set(status=200)
        assert span.traceparent is None
    with pytest.raises(ValueError), tracing.span("serve"):
        raise ValueError
    tracing.close()
    assert isinstance(tracing, NoTracing)


def test_opentelemetry_is_not_imported_without_endpoint():
    code = (
        "import sys; from forge.telemetry import open_tracing; open_tracing(None, version='1')\n"
        "print({name.partition('.')[0] for name in sys.modules} & "
        "{'opentelemetry', 'prometheus_client', 'requests', 'pydantic', 'rich'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
