"""Hatch build hook: a wheel always contains the built web app and the skill runtimes.

So an installation needs neither Node nor WebAssembly tools. An editable install skips the hook (`make install` builds
both itself), and so does a source archive that already contains them. Node comes from PATH, otherwise from a build
dependency.
"""

import sys
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# hatch loads this file by its path, so its folder is not importable.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import build_runtimes
import node
import web_app

PYTHON_SCRIPTS = Path(sys.executable).parent
IN_WHEEL = ("forge/web/index.html", "forge/skills/wasm/built/runtimes.json")
RUNTIME_TOOLS = ["componentize-py==0.25.1", "wasmtime==50.0.1"]


class WebBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        if self._has_web and self._has_runtimes:
            return []
        needed = [] if self._has_runtimes else RUNTIME_TOOLS
        return needed if node.find(PYTHON_SCRIPTS) else [*needed, node.PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not self._has_web:
            web_app.refresh(Path(self.root), node.require(PYTHON_SCRIPTS))
        if not self._has_runtimes:
            build_runtimes.refresh(Path(self.root), node.require(PYTHON_SCRIPTS), Path(sys.executable))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel" and version != "editable":
            refuse_without(Path(artifact_path))

    @property
    def _has_web(self) -> bool:
        return web_app.built_page(Path(self.root)).is_file()

    @property
    def _has_runtimes(self) -> bool:
        return build_runtimes.manifest(Path(self.root)).is_file()


def refuse_without(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        missing = set(IN_WHEEL) - set(archive.namelist())
    if missing:
        wheel.unlink()
        raise RuntimeError(
            f"The wheel was removed because it lacks {' and '.join(sorted(missing))}. Does pyproject.toml exclude it?"
        )
