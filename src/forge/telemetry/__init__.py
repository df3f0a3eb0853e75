"""What a person sees of a running Forge from outside: logs, metrics, traces. Opened once, by `forge.app`."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.telemetry.context import bind, current
from forge.telemetry.logs import Logs, configure_logs
from forge.telemetry.metrics import Metrics
from forge.telemetry.redaction import redact
from forge.telemetry.traces import NoTracing, Span, Tracing, open_tracing

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
        """Traces first: what goes wrong there should still be logged."""
        try:
            self.tracing.close()
        finally:
            self.logs.close()


def open_telemetry(settings: "Settings", *, version: str, terminal: bool, name: str) -> Telemetry:
    """`terminal` says whether a person is reading stderr."""
    with ExitStack() as undo:
        logs = configure_logs(settings.data_dir, settings.log_level, terminal=terminal, name=name)
        undo.callback(logs.close)
        tracing = open_tracing(settings.otel_endpoint, version=version)
        telemetry = Telemetry(logs, Metrics(version=version), tracing)
        undo.pop_all()
    return telemetry
