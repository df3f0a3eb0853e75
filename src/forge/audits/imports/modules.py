"""Resolve imports of Python and scripts to files of the project.

Nothing is executed or installed: resolution uses the file paths and the project's settings (pyproject.toml,
tsconfig.json, package.json).
"""

from collections.abc import Callable
from dataclasses import dataclass

from forge.audits.facts.models import Import, Language, language_of
from forge.audits.imports.python_modules import PythonModules
from forge.audits.imports.script_modules import ScriptModules
from forge.audits.snapshot import Snapshot


@dataclass(frozen=True)
class Modules:
    """Resolves modules of both languages."""

    python: PythonModules
    script: ScriptModules

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Modules":
        return cls(PythonModules.of(snapshot), ScriptModules.of(snapshot))

    def module_of(self, path: str) -> str | None:
        """Return the dotted name of a Python file, or the path of a script without its suffix."""
        return self._of(path).module_of(path)

    def resolve(self, importer: str, imp: Import) -> tuple[str, ...]:
        """Return the project files an import resolves to, sorted; none for a package."""
        return self._of(importer).resolve(importer, imp)

    def resolver(self, importer: str) -> Callable[[str, Import], tuple[str, ...]]:
        """Return `resolve` for the language of a file."""
        return self._of(importer).resolve

    def _of(self, path: str) -> PythonModules | ScriptModules:
        return self.script if language_of(path) is Language.SCRIPT else self.python
