"""Logs, metrics and traces. Opened once, by `forge.app`."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.telemetry.log_entries import bind, current
from forge.telemetry.logs import Logs, configure_logs
from forge.telemetry.metrics import Metrics
from forge.telemetry.redaction import redact
from forge.telemetry.traces import NoTracing, Span, Tracing

if TYPE_CHECKING:
    from forge.config import Settings

__all__ = [
    "Logs",
    "Metrics",
    "NoTracing",
    "Span",
    "Telemetry",
    "Tracing",
    "bind",
    "configure_logs",
    "current",
    "open_telemetry",
    "open_tracing",
    "redact",
]


@dataclass(frozen=True)
class Telemetry:
    logs: Logs
    metrics: Metrics
    tracing: Tracing

    def close(self) -> None:
        """Close tracing first, so that its errors are still logged."""
        try:
            self.tracing.close()
        finally:
            self.logs.close()


def open_telemetry(settings: "Settings", *, version: str, terminal: bool, name: str) -> Telemetry:
    """Open logs, metrics and tracing. `terminal` says whether stderr is a terminal."""
    with ExitStack() as undo:
        logs = configure_logs(settings.data_dir, settings.log_level, terminal=terminal, name=name)
        undo.callback(logs.close)
        tracing = open_tracing(settings.otel_endpoint, version=version)
        telemetry = Telemetry(logs, Metrics(version=version), tracing)
        undo.pop_all()
    return telemetry


def open_tracing(endpoint: str | None, *, version: str) -> Tracing:
    if endpoint is None:
        return NoTracing()
    # Not at the top: OpenTelemetry takes a quarter of a second to import.
    from forge.telemetry.otlp import OtlpTracing

    return OtlpTracing(endpoint, version=version)
