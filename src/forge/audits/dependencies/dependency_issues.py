"""Issues of imported packages (undeclared, development only, …), with their messages and fixes."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from forge.audits.dependencies.manifests.discovery import Format, Source, View
from forge.audits.dependencies.manifests.models import Group
from forge.audits.dependencies.python_packages import known_names
from forge.audits.files.file_roles import Role, role_of


class IssueKind(IntEnum):
    """The kinds of issues, the worst first."""

    UNDECLARED = 0
    UNSURE = 1
    """Undeclared by that name, but a declared package may provide it."""
    DEV_ONLY = 2
    """Declared for development, but imported by code that users run."""
    TYPES_ONLY = 3
    """Undeclared, but only imported for type checkers."""


@dataclass(frozen=True, slots=True)
class DependencyIssue:
    path: str
    line: int
    label: str
    """As imported: `google.cloud.storage`, `@scope/name`."""
    package: str
    """The package to declare."""
    kind: IssueKind
    view: View
    is_python: bool
    is_known: bool = True
    """Whether `package` is known and not a guess."""
    declared: str | None = None
    """The declared package that is for another purpose or uncertain."""


def worst_per_package(issues: Iterable[DependencyIssue]) -> list[DependencyIssue]:
    """Keep one issue per package: the worst one, at its first line."""
    worst: dict[str, DependencyIssue] = {}
    for issue in issues:
        known = worst.get(issue.label)
        if known is None or issue.kind < known.kind:
            worst[issue.label] = issue
    return list(worst.values())


_MIN_SIMILARITY = 0.84
MAX_COMPARED = 2000


def message_for(issue: DependencyIssue) -> str:
    subject = f"imports {issue.label}"
    if issue.kind is IssueKind.DEV_ONLY and issue.declared is not None:
        declaration, source = issue.view.declared[issue.declared]
        where = source.path + (f":{declaration.line}" if declaration.line else "")
        return f"{subject}, which is declared for development only ({issue.declared} in {where})"
    if issue.kind is IssueKind.UNSURE:
        return f"{subject}, which no manifest declares by that name; {issue.declared} may provide it"
    if issue.kind is IssueKind.TYPES_ONLY:
        return f"{subject} for its types only, but no manifest declares it"
    if issue.declared is not None:
        return f"{subject}, which is declared for the build only ({issue.declared})"
    problem = "which no manifest declares" if issue.view.sources else "but there is no manifest to declare it"
    return f"{subject}, {problem}{_explanation(issue)}"


def _explanation(issue: DependencyIssue) -> str:
    if issue.is_python:
        top = issue.label.partition(".")[0]
        parent = next((c for c in known_names().transitive.get(top, ()) if c in issue.view.declared), None)
        if parent is not None:
            return f" (it is a transitive dependency of {parent})"
    similar = similar_package(issue.package, issue.view)
    return f" ({similar} {'is' if issue.is_known else 'may be'} a different package)" if similar else ""


def similar_package(package: str, view: View) -> str | None:
    """Return a declared package with a similar name."""
    names = list(view.declared)[:MAX_COMPARED]
    related = [
        n
        for n in names
        if n.startswith((f"{package}-", f"{package}/")) or n.endswith((f"-{package}", f"/{package}"))
    ]
    if related:
        return min(related, key=lambda name: (len(name), name))
    close = difflib.get_close_matches(package, names, n=1, cutoff=_MIN_SIMILARITY)
    return close[0] if close else None


def fix_for(issue: DependencyIssue) -> str:
    package = issue.package
    if not issue.is_python:
        return _script_fix(issue)
    source = _best_source(issue)
    if source is None:
        return f"Create requirements.txt with the line {package} (or declare it in pyproject.toml), or remove the import."
    if issue.kind is IssueKind.DEV_ONLY and issue.declared is not None:
        return (
            f"Move {issue.declared} to the runtime dependencies ({_section_in(source, is_dev=False)}), "
            "or import it only in tests and tools."
        )
    is_dev = role_of(issue.path) is not Role.RUNTIME
    if issue.kind is IssueKind.UNSURE:
        return (
            f'If it comes from {issue.declared}, map it in forge.json (audit.import_names: "{issue.label}": '
            f'"{issue.declared}"); else add its package to {_section_in(source, is_dev=is_dev)}, or remove the import.'
        )
    condition = (
        ""
        if issue.is_known
        else ", if that is the package it comes from (else map it in forge.json, audit.import_names)"
    )
    return f"Add {package} to {_section_in(source, is_dev=is_dev)}{condition}, or remove the import."


def _script_fix(issue: DependencyIssue) -> str:
    source = next(iter(issue.view.sources), None)
    if source is None:
        return f"Create package.json and run npm install {issue.package}, or remove the import."
    folder = source.path.rpartition("/")[0] or "the top folder"
    flag = " --save-dev" if role_of(issue.path) is not Role.RUNTIME else ""
    return f"Add it to {source.path} (in {folder}: npm install{flag} {issue.package}), or remove the import."


def _best_source(issue: DependencyIssue) -> Source | None:
    """Return the manifest to add the package to: the nearest hand-written one."""
    is_dev = role_of(issue.path) is not Role.RUNTIME
    sources = issue.view.sources
    nearest = len(sources[0].scope) if sources else 0
    own = [s for s in sources if len(s.scope) == nearest]

    def rank(source: Source) -> tuple[bool, bool, int]:
        groups = {declared.group for declared in source.manifest.declared}
        is_for_dev = source.format is Format.REQUIREMENTS and groups == {Group.DEV}
        return (is_for_dev and not is_dev, not source.path.endswith(".in"), own.index(source))

    by_hand = [s for s in own if s.format is not Format.REQUIREMENTS]
    requirements = [s for s in own if s.format is Format.REQUIREMENTS]
    pyproject = next((s for s in by_hand if s.format is Format.PYPROJECT), None)
    if pyproject is not None:
        return pyproject
    if requirements:
        return min(requirements, key=rank)
    return by_hand[0] if by_hand else None


def _section_in(source: Source, *, is_dev: bool) -> str:
    groups = (Group.DEV,) if is_dev else (Group.RUNTIME,)
    sections = [d.section for d in source.manifest.declared if d.group in groups and d.section]
    sections.sort(key=lambda section: " dev" not in section and ".dev" not in section)
    default = {
        Format.PYPROJECT: "[dependency-groups] dev" if is_dev else "[project] dependencies",
        Format.SETUP_CFG: "[options] install_requires",
        Format.SETUP_PY: "install_requires",
        Format.PIPFILE: "[dev-packages]" if is_dev else "[packages]",
        Format.CONDA: "dependencies",
    }.get(source.format)
    section = sections[0] if sections and source.format is Format.PYPROJECT else default
    return f"{section} in {source.path}" if section else source.path
