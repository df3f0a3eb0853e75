"""The tracing interface, and the implementation without a collector, which costs nothing."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

Attribute = str | bool | int | float | None


class Span(Protocol):
    """A span in progress."""

    @property
    def traceparent(self) -> str | None:
        """The W3C header with which another process can continue this trace, or this one can later."""
        ...

    def set(self, **attributes: Attribute) -> None: ...


class Tracing(Protocol):
    def span(
        self, name: str, /, *, traceparent: str | None = None, **attributes: Attribute
    ) -> AbstractContextManager[Span]:
        """Open a span; an exception that leaves it is recorded.

        Its parent is `traceparent` if given and valid, else the current span.
        """
        ...

    def close(self) -> None:
        """Deliver pending spans within a few seconds."""
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
