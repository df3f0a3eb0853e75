"""Tracing is there for who has a collector, and costs nothing for who has none."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

Attribute = str | bool | int | float | None


class Span(Protocol):
    """A piece of work while it is going on."""

    @property
    def traceparent(self) -> str | None:
        """The W3C header that makes work elsewhere, or later, a part of this."""
        ...

    def set(self, **attributes: Attribute) -> None: ...


class Tracing(Protocol):
    def span(
        self, name: str, /, *, traceparent: str | None = None, **attributes: Attribute
    ) -> AbstractContextManager[Span]:
        """A span around a piece of work, awaits included; an exception that leaves it is recorded.

        It belongs to `traceparent` when given and well formed, else to the span it is opened in.
        """
        ...

    def close(self) -> None:
        """Deliver what is left, within a few seconds."""
        ...


class NoSpan:
    traceparent: str | None = None

    def set(self, **attributes: Attribute) -> None:
        del attributes


class NoTracing:
    def span(
        self, name: str, /, *, traceparent: str | None = None, **attributes: Attribute
    ) -> AbstractContextManager[Span]:
        del name, traceparent, attributes
        return nullcontext(NoSpan())

    def close(self) -> None:
        pass


def open_tracing(endpoint: str | None, *, version: str) -> Tracing:
    if endpoint is None:
        return NoTracing()
    # Not at the top: OpenTelemetry takes a quarter of a second to import.
    from forge.telemetry.otlp import OtlpTracing

    return OtlpTracing(endpoint, version=version)
