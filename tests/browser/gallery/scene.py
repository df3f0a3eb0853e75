"""What is to be seen: a page of the router, and what has to happen until it shows what is meant."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from tests.support.models import ModelServer
from tests.support.server import Server, wait_until

MODEL = "scripted:house"


@dataclass(frozen=True)
class House:
    """A server in which there is one of everything, and where it is: `made` is what the paths of scenes are filled with."""

    server: Server
    models: ModelServer
    projects: Path
    made: dict[str, str] = field(default_factory=dict[str, str])

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self.server.call(method, path, body)

    def wait_for_end(self, run_id: str) -> None:
        def has_ended() -> bool:
            return self.call("GET", f"/api/v1/runs/{run_id}")["run"]["finished_at"] is not None

        wait_until(has_ended, what="the end of the run")


@dataclass(frozen=True)
class Scene:
    name: str
    route: str
    """As the router writes it, such as `/runs/$runId`."""
    path: str
    """With names of `House.made` in braces."""
    sign: str
    """A text that is on the page when it is all there."""
    act: Callable[[Page], None] | None = None
    """What a person does there before it looks as meant."""
    asks: bool = True
    """Whether it shows something of the server, which may be late or not come at all."""

    @property
    def is_of_things(self) -> bool:
        """Whether there is such a page only where something was made."""
        return "{" in self.path or self.act is not None


@dataclass(frozen=True)
class Area:
    """The scenes of some pages, what has to be made for them, and what the model says meanwhile."""

    scenes: tuple[Scene, ...]
    furnish: Callable[[House], None]
    script: dict[str, Any] = field(default_factory=dict[str, Any])
