"""Which file an import reaches, and which names are the project's own: in Python and in scripts.

Nothing is executed and nothing is installed: it is all derived from the paths of the tree and from what the
project's own settings (pyproject.toml, tsconfig.json, package.json) say about where modules are found.
"""

from collections.abc import Callable
from dataclasses import dataclass

from forge.audits.facts.models import LANGUAGES, Import, Language
from forge.audits.imports.python_modules import PythonModules
from forge.audits.imports.script_modules import ScriptModules
from forge.audits.snapshot import Snapshot

__all__ = ["Modules", "PythonModules", "ScriptModules", "language_of"]


def language_of(path: str) -> Language | None:
    return LANGUAGES.get("." + path.rpartition(".")[2].lower())


@dataclass(frozen=True)
class Modules:
    """Both languages behind one door."""

    python: PythonModules
    script: ScriptModules

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Modules":
        return cls(PythonModules.of(snapshot), ScriptModules.of(snapshot))

    def module_of(self, path: str) -> str | None:
        """The dotted name of a Python file, the path without its suffix of a script."""
        return self._of(path).module_of(path)

    def resolve(self, importer: str, imp: Import) -> tuple[str, ...]:
        """The own files an import reaches, in order of their paths; none when it is somebody else's."""
        return self._of(importer).resolve(importer, imp)

    def resolver(self, importer: str) -> Callable[[str, Import], tuple[str, ...]]:
        """`resolve` of the language of this file, for many imports of it."""
        return self._of(importer).resolve

    def _of(self, path: str) -> PythonModules | ScriptModules:
        return self.script if language_of(path) is Language.SCRIPT else self.python
