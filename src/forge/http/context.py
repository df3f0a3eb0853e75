"""The request being served: its id and when it began. Set by the outermost middleware, read by replies and logs."""

import time
from contextvars import ContextVar
from dataclasses import dataclass, field

from forge.kernel.ids import new_id


@dataclass(frozen=True)
class RequestContext:
    request_id: str = field(default_factory=new_id)
    started: float = field(default_factory=time.perf_counter)

    def elapsed_ms(self) -> int:
        return round((time.perf_counter() - self.started) * 1000)


_current: ContextVar[RequestContext | None] = ContextVar("forge_request", default=None)


def current_request() -> RequestContext:
    return _current.get() or RequestContext()


def enter_request(context: RequestContext) -> None:
    """Each request is served in a context of its own, so there is nothing to leave."""
    _current.set(context)
