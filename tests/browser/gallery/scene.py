"""Scenes: pages of the web app in a given state."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from tests.support.models import ModelServer
from tests.support.server import Server, wait_until

MODEL = "scripted:gallery"


@dataclass(frozen=True)
class GalleryServer:
    """A server with sample data; `ids` fills the placeholders in the paths of scenes."""

    server: Server
    models: ModelServer
    projects: Path
    ids: dict[str, str] = field(default_factory=dict[str, str])

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
    """The route as the router writes it, such as `/runs/$runId`."""
    path: str
    """The path, with keys of `GalleryServer.ids` in braces."""
    marker: str
    """A text that is visible when the page is complete."""
    interaction: Callable[[Page], None] | None = None
    """Actions on the page that lead to the state."""
    loads_data: bool = True
    """Whether the page loads data, so that it has a loading and an error state."""

    @property
    def needs_data(self) -> bool:
        """Whether the scene exists only with sample data."""
        return "{" in self.path or self.interaction is not None


@dataclass(frozen=True)
class Area:
    """The scenes of an area, the function that creates their data, and the model's script for it."""

    scenes: tuple[Scene, ...]
    create_data: Callable[[GalleryServer], None]
    script: dict[str, Any] = field(default_factory=dict[str, Any])
