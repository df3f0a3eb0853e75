"""Read Pipfile: a table per category, of which `packages` is for users."""

from forge.audits.dependencies.manifests.line_finder import LineFinder
from forge.audits.dependencies.manifests.models import Declared, Group, Manifest
from forge.audits.dependencies.manifests.pyproject import read_toml_text
from forge.audits.dependencies.manifests.requirement_name import normal
from forge.audits.files.lenient_readers import table

_NOT_CATEGORIES = frozenset({"source", "requires", "pipenv", "scripts"})


def read_pipfile(data: bytes) -> Manifest:
    content = read_toml_text(data)
    if isinstance(content, Manifest):
        return content
    lines = LineFinder(data.decode("utf-8-sig"))
    declared = [
        Declared(
            normal(name),
            Group.RUNTIME if category == "packages" else Group.DEV,
            f"[{category}]",
            lines.of(name),
        )
        for category, value in content.items()
        if category not in _NOT_CATEGORIES
        for name in table(value)
    ]
    return Manifest(tuple(declared))
