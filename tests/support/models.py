"""The scripted model server inside a test: real clients talk to it over a real socket."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from forge.demo.model_script import Script, parse_script, script_from
from forge.demo.model_server import ModelServer, open_model_server

KEY = "sk-scripted-0123456789"


@contextmanager
def open_models(script: dict[str, Any] | str | Path | None = None, **options: Any) -> Generator[ModelServer]:
    """Serves a script: its text, its file, or what its text would say as a dict; without one, the default scene."""
    with open_model_server(_script(script), **options) as server:
        yield server


def _script(given: dict[str, Any] | str | Path | None) -> Script:
    if isinstance(given, Path):
        return parse_script(given.read_text(), str(given))
    return parse_script(given, "script") if isinstance(given, str) else script_from(given or {}, "script")


class StartModels(Protocol):
    def __call__(self, script: dict[str, Any] | str | Path | None = None, **options: Any) -> ModelServer: ...


__all__ = ["KEY", "ModelServer", "StartModels", "open_models"]
