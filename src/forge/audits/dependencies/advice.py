"""What to say about a need: what is wrong, and the line that would make it right."""

import difflib

from forge.audits.dependencies.manifests.discovery import Format, Source, View
from forge.audits.dependencies.manifests.models import Group
from forge.audits.dependencies.needs import Need, Standing
from forge.audits.dependencies.packages import known_names
from forge.audits.dependencies.roles import Role, role_of

_ALIKE = 0.84
MAX_COMPARED = 2000


def message_for(need: Need) -> str:
    subject = f"imports {need.label}"
    if need.standing is Standing.DEV_ONLY and need.declared is not None:
        one, source = need.view.declared[need.declared]
        where = source.path + (f":{one.line}" if one.line else "")
        return f"{subject}, which is declared for development only ({need.declared} in {where})"
    if need.standing is Standing.UNSURE:
        return f"{subject}, which no manifest declares by that name; {need.declared} may bring it"
    if need.standing is Standing.TYPES_ONLY:
        return f"{subject} for its types only, and no manifest declares it"
    if need.declared is not None:
        return f"{subject}, which is declared for the build only ({need.declared})"
    what = (
        "which no manifest declares"
        if need.view.sources
        else "and there is no manifest that could declare it"
    )
    return f"{subject}, {what}{_hint(need)}"


def _hint(need: Need) -> str:
    if need.is_python:
        top = need.label.partition(".")[0]
        carrier = next((c for c in known_names().brought.get(top, ()) if c in need.view.declared), None)
        if carrier is not None:
            return f" ({carrier} happens to bring it along)"
    alike = look_alike(need.package, need.view)
    return f" ({alike} {'is' if need.is_known else 'may be'} another package)" if alike else ""


def look_alike(package: str, view: View) -> str | None:
    """A declared package that one could take for it."""
    names = list(view.declared)[:MAX_COMPARED]
    related = [
        n
        for n in names
        if n.startswith((f"{package}-", f"{package}/")) or n.endswith((f"-{package}", f"/{package}"))
    ]
    if related:
        return min(related, key=lambda name: (len(name), name))
    close = difflib.get_close_matches(package, names, n=1, cutoff=_ALIKE)
    return close[0] if close else None


def fix_for(need: Need) -> str:
    package = need.package
    if not need.is_python:
        return _script_fix(need)
    source = _best(need)
    if source is None:
        return f"Create requirements.txt with the line {package} (or declare it in pyproject.toml), or remove the import."
    if need.standing is Standing.DEV_ONLY and need.declared is not None:
        return (
            f"Move {need.declared} to what users need ({_place(source, is_dev=False)}), "
            "or import it in tests and tools only."
        )
    is_dev = role_of(need.path) is not Role.RUNTIME
    if need.standing is Standing.UNSURE:
        return (
            f'If it comes from {need.declared}, say so in forge.json (audit.import_names: "{need.label}": '
            f'"{need.declared}"); else add its package to {_place(source, is_dev=is_dev)}, or remove the import.'
        )
    guess = (
        ""
        if need.is_known
        else ", if that is the package it comes from (else map it in forge.json, audit.import_names)"
    )
    return f"Add {package} to {_place(source, is_dev=is_dev)}{guess}, or remove the import."


def _script_fix(need: Need) -> str:
    source = next(iter(need.view.sources), None)
    if source is None:
        return f"Create package.json and run npm install {need.package}, or remove the import."
    folder = source.path.rpartition("/")[0] or "the top folder"
    flag = " --save-dev" if role_of(need.path) is not Role.RUNTIME else ""
    return f"Add it to {source.path} (in {folder}: npm install{flag} {need.package}), or remove the import."


def _best(need: Need) -> Source | None:
    """Where a person would add it: the nearest file that is written by hand and for users."""
    is_dev = role_of(need.path) is not Role.RUNTIME
    sources = need.view.sources
    nearest = len(sources[0].scope) if sources else 0
    own = [s for s in sources if len(s.scope) == nearest]

    def rank(source: Source) -> tuple[bool, bool, int]:
        groups = {one.group for one in source.manifest.declared}
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


def _place(source: Source, *, is_dev: bool) -> str:
    groups = (Group.DEV,) if is_dev else (Group.RUNTIME,)
    sections = [one.section for one in source.manifest.declared if one.group in groups and one.section]
    sections.sort(key=lambda section: " dev" not in section and ".dev" not in section)
    usual = {
        Format.PYPROJECT: "[dependency-groups] dev" if is_dev else "[project] dependencies",
        Format.SETUP_CFG: "[options] install_requires",
        Format.SETUP_PY: "install_requires",
        Format.PIPFILE: "[dev-packages]" if is_dev else "[packages]",
        Format.CONDA: "dependencies",
    }.get(source.format)
    section = sections[0] if sections and source.format is Format.PYPROJECT else usual
    return f"{section} in {source.path}" if section else source.path
