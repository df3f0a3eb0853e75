"""The hatch build hook: a wheel always carries the built web app, so that whoever installs it needs no Node.

An editable install skips it (`make install` builds the web itself), and so does a source archive that
already carries a built web. Node comes from PATH, else as a build dependency.
"""

import sys
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# hatch loads this file by its path, which leaves its neighbours out of reach.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import node
import web_app

PYTHON_SCRIPTS = Path(sys.executable).parent
PAGE_IN_WHEEL = "forge/web/index.html"


class WebBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        return [] if self._is_built or node.find(PYTHON_SCRIPTS) else [node.PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable" and not self._is_built:
            web_app.refresh(Path(self.root), node.require(PYTHON_SCRIPTS))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel" and version != "editable":
            refuse_without_web(Path(artifact_path))

    @property
    def _is_built(self) -> bool:
        return web_app.built_page(Path(self.root)).is_file()


def refuse_without_web(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        has_page = PAGE_IN_WHEEL in archive.namelist()
    if not has_page:
        wheel.unlink()
        raise RuntimeError(
            f"The wheel has no {PAGE_IN_WHEEL}; it was removed. Does pyproject.toml leave src/forge/web out?"
        )
