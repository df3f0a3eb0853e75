"""The result of a check, and the situation that all checks examine."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from forge.api.models import Status
from forge.config import Settings
from forge.errors import ConfigError, Denied, ForgeError, Internal, Unauthenticated, Unavailable
from forge.kernel.clock import now
from forge.terminal.client import Client, connect
from forge.terminal.location import Source


class CheckStatus(StrEnum):
    OK = "ok"
    WARN = "warn"
    BAD = "bad"


class Check(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    status: CheckStatus
    finding: str
    advice: str | None = None
    took_ms: int | None = None


def ok(name: str, finding: str, *, took: timedelta | None = None) -> Check:
    took_ms = None if took is None else round(took.total_seconds() * 1000)
    return Check(name=name, status=CheckStatus.OK, finding=finding, took_ms=took_ms)


def warn(name: str, finding: str, advice: str) -> Check:
    return Check(name=name, status=CheckStatus.WARN, finding=finding, advice=advice)


def bad(name: str, finding: str, advice: str) -> Check:
    return Check(name=name, status=CheckStatus.BAD, finding=finding, advice=advice)


@dataclass(frozen=True)
class Server:
    """The server this terminal is connected to, and its status."""

    client: Client
    status: Status
    skew: timedelta
    """How far its clock is ahead of ours, estimated from the round-trip time."""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine with the data directory of these settings."""
        return self.client.location.source is Source.SERVER_FILE


@dataclass(frozen=True)
class Situation:
    settings: Settings
    server: Server | None
    problem: ForgeError | None
    """Why no server could be reached."""


CheckFunction = Callable[[Situation], Check]


@contextmanager
def open_situation(settings: Settings) -> Generator[Situation]:
    with ExitStack() as stack:
        try:
            server = _ask(stack.enter_context(connect()))
        except (ConfigError, Unavailable, Unauthenticated, Denied, Internal) as error:
            situation = Situation(settings, None, error)
        else:
            situation = Situation(settings, server, None)
        yield situation


def _ask(client: Client) -> Server:
    sent = now()
    status = client.get("/status", Status)
    return Server(client, status, skew=status.time - (sent + (now() - sent) / 2))
