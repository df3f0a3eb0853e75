"""The web app, which is built into the package."""

from importlib.resources import files

from forge.server.checks.check import Check, Situation, ok, warn


def check_web_app(_: Situation) -> Check:
    if files("forge").joinpath("web", "index.html").is_file():
        return ok("web app", "built")
    return warn(
        "web app", "not built; the API and these commands work without it", "In a checkout: make install"
    )
