"""What is being worked on (request, run, step), so that every log line can say so without being told."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_NOTHING: Mapping[str, object] = MappingProxyType({})
_bound: ContextVar[Mapping[str, object]] = ContextVar("forge_log_context", default=_NOTHING)


def current() -> Mapping[str, object]:
    """The fields bound here, outermost first. A task inherits those of whoever started it."""
    return _bound.get()


@contextmanager
def bind(**fields: object) -> Generator[None]:
    """Add fields to every log line written inside; a field that is None is taken away."""
    merged = {**_bound.get(), **fields}
    known = {name: value for name, value in merged.items() if value is not None}
    token = _bound.set(MappingProxyType(known))
    try:
        yield
    finally:
        _bound.reset(token)
