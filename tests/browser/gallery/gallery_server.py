"""Servers for the gallery: with sample data and empty."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.gallery.areas import AREAS
from tests.browser.gallery.scene import MODEL, GalleryServer
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
def open_gallery_server(folder: Path) -> Generator[GalleryServer]:
    """Open a server with the data of all areas; all roles use one model with their scripts."""
    projects = folder / "projects"
    projects.mkdir(parents=True)
    scenes = {name: scene for area in AREAS for name, scene in area.script.items()}
    with (
        open_models({"scenes": scenes}) as models,
        open_server(folder / "data", FORGE_AUDIT_ROOTS=str(projects)) as server,
    ):
        gallery = GalleryServer(server, models, projects)
        gallery.call(
            "PUT", "/api/v1/models/providers/scripted", {"kind": "anthropic", "base_url": models.url}
        )
        gallery.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        for role in Role:
            gallery.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [MODEL]})
        for area in AREAS:
            area.create_data(gallery)
        yield gallery
