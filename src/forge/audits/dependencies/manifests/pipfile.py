"""Pipfile: TOML with a table per category, of which `packages` is what users need."""

from forge.audits.dependencies.manifests.lines import Lines
from forge.audits.dependencies.manifests.models import Declared, Group, Manifest
from forge.audits.dependencies.manifests.pyproject import read_toml_text
from forge.audits.dependencies.manifests.requirement import normal
from forge.audits.imports.loose import table

_NOT_CATEGORIES = frozenset({"source", "requires", "pipenv", "scripts"})


def read_pipfile(data: bytes) -> Manifest:
    content = read_toml_text(data)
    if isinstance(content, Manifest):
        return content
    lines = Lines(data.decode("utf-8-sig"))
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
