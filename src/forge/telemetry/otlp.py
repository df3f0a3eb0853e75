"""Traces for an OpenTelemetry collector. The only module that imports OpenTelemetry; loaded when an endpoint is set.

Uses its own provider, not the process-wide one. Spans are sent in the background: a slow or unreachable collector
loses spans but delays nothing. The standard OTEL_* variables (headers, sampler) apply too.
"""

import logging
import threading
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from forge.telemetry.redaction import redact
from forge.telemetry.traces import Attribute, Span

CLOSE_S = 3.0
GRACE_S = 1.0

_log = logging.getLogger(__name__)


class OtlpTracing:
    def __init__(self, endpoint: str, *, version: str, close_s: float = CLOSE_S) -> None:
        self._close_s = close_s
        resource = Resource.create({"service.name": "forge", "service.version": version})
        self._exporter = _StoppableExporter(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces"))
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("forge", version)
        self._headers = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self, name: str, /, *, traceparent: str | None = None, **attributes: Attribute
    ) -> Generator[Span]:
        with self._tracer.start_as_current_span(
            name,
            context=self._parent(traceparent),
            attributes=_shown(attributes),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield _OtlpSpan(span, self._headers)
            except Exception as error:
                _record(span, error)
                raise

    def close(self) -> None:
        """Shut down within `close_s`. OpenTelemetry's shutdown takes up to 30 s, and its flush ignores the timeout."""
        shutdown = threading.Thread(target=self._provider.shutdown, name="forge-traces-close", daemon=True)
        shutdown.start()
        shutdown.join(self._close_s)
        if shutdown.is_alive():
            _log.warning("the last traces were not delivered: the collector did not respond in time")
            self._exporter.shutdown()
            shutdown.join(GRACE_S)

    def _parent(self, traceparent: str | None) -> context.Context:
        here = context.get_current()
        return self._headers.extract({"traceparent": traceparent}, here) if traceparent else here


class _OtlpSpan:
    def __init__(self, span: trace.Span, headers: TraceContextTextMapPropagator) -> None:
        self._span = span
        self._headers = headers

    @property
    def traceparent(self) -> str | None:
        carrier: dict[str, str] = {}
        self._headers.inject(carrier, trace.set_span_in_context(self._span))
        return carrier.get("traceparent")

    def set(self, **attributes: Attribute) -> None:
        self._span.set_attributes(_shown(attributes))


class _StoppableExporter(SpanExporter):
    """Sends nothing after `shutdown`, and allows a second `shutdown`: ours can precede the provider's."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._stopped = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE if self._stopped.is_set() else self._exporter.export(spans)

    def shutdown(self) -> None:
        if not self._stopped.is_set():
            self._stopped.set()
            self._exporter.shutdown()


def _shown(attributes: Mapping[str, Attribute]) -> dict[str, str | bool | int | float]:
    return {
        name: redact(value) if isinstance(value, str) else value
        for name, value in attributes.items()
        if value is not None
    }


def _record(span: trace.Span, error: Exception) -> None:
    message = redact(str(error))
    trace_text = redact("".join(traceback.format_exception(error)))
    span.record_exception(error, {"exception.message": message, "exception.stacktrace": trace_text})
    span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {message}"))
