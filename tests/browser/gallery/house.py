"""A server with everything in it, and one with nothing."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.gallery.areas import AREAS
from tests.browser.gallery.scene import MODEL, House
from tests.support.models import open_models
from tests.support.server import Server

from forge.llm.models import Role


@contextmanager
def open_server(folder: Path, **environment: str) -> Generator[Server]:
    server = Server(folder, **environment)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def open_house(folder: Path) -> Generator[House]:
    """Furnished by all areas; the one model of all roles follows their scripts."""
    projects = folder / "projects"
    projects.mkdir(parents=True)
    scenes = {name: scene for area in AREAS for name, scene in area.script.items()}
    with (
        open_models({"scenes": scenes}) as models,
        open_server(folder / "data", FORGE_AUDIT_ROOTS=str(projects)) as server,
    ):
        house = House(server, models, projects)
        house.call("PUT", "/api/v1/models/providers/scripted", {"kind": "anthropic", "base_url": models.url})
        house.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        for role in Role:
            house.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [MODEL]})
        for area in AREAS:
            area.furnish(house)
        yield house
