"""The scripted model server for tests, on a real socket."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from forge.demo.model_script import Script, parse_script, script_from
from forge.demo.model_server import ModelServer, open_model_server

KEY = "sk-scripted-0123456789"
REPAIR = {"latest": "An earlier answer did not match the schema"}
"""Matches the request for a repair, which does not contain the invalid answer."""


@contextmanager
def open_models(script: dict[str, Any] | str | Path | None = None, **options: Any) -> Generator[ModelServer]:
    """Serve a script given as text, file or dict; without one, serve the default scene."""
    with open_model_server(_script(script), **options) as server:
        yield server


def _script(script: dict[str, Any] | str | Path | None) -> Script:
    if isinstance(script, Path):
        return parse_script(script.read_text(), str(script))
    return parse_script(script, "script") if isinstance(script, str) else script_from(script or {}, "script")


class StartModels(Protocol):
    def __call__(self, script: dict[str, Any] | str | Path | None = None, **options: Any) -> ModelServer: ...


__all__ = ["KEY", "REPAIR", "ModelServer", "StartModels", "open_models"]
