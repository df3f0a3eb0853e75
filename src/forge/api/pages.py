"""Serves the web app that was built into the package. Pages are open: they hold no data and show the login."""

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

FRONT_DOOR = "."
"""What Starlette makes of `/`: asked for by monitors and `curl` too, which take anything."""
_NOT_BUILT = (
    "<h1>Forge</h1><p>The web app is not built yet. Run <code>make install</code>; the API works already.</p>"
)


def mount_pages(api: FastAPI, web: Path) -> None:
    if not (web / "index.html").is_file():
        api.add_api_route("/", _not_built, include_in_schema=False)
        return
    api.mount("/", WebApp(directory=web), name="web")


async def _not_built(request: Request) -> Response:
    return HTMLResponse(_NOT_BUILT, status_code=503)


class WebApp(StaticFiles):
    """Files as they are; for any other page the shell, which finds the page by itself.

    Only for somebody who asks for HTML, or for the front door: a mistyped API path or a missing asset stays a 404.
    """

    async def get_response(self, path: str, scope: dict[str, object]) -> Response:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or not _wants_page(path, scope):
                raise
            response = FileResponse(Path(str(self.directory)) / "index.html")
        if path.startswith("assets/"):
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        else:
            response.headers["Cache-Control"] = "no-cache"
        return response


def _wants_page(path: str, scope: dict[str, object]) -> bool:
    if path == FRONT_DOOR:
        return True
    accept = dict(scope["headers"]).get(b"accept", b"")  # type: ignore[call-overload]
    return b"text/html" in accept and not path.startswith(("api/", "assets/"))
