"""What is run of a skill: one file, found by its name."""

from collections.abc import Collection, Mapping

from forge.errors import Invalid
from forge.skills.execution import Language, Program
from forge.skills.models import SkillKind

SCRIPTS: Mapping[str, Language] = {
    "skill.js": Language.JS,
    "skill.py": Language.PY,
    "skill.wasm": Language.WASM,
}
"""At the root of the folder."""
PROGRAMS = ("scripts/run.py", "scripts/run.sh", "scripts/run.js")
ENTRIES: Mapping[SkillKind, tuple[str, ...]] = {
    SkillKind.PROMPT: (),
    SkillKind.SCRIPT: tuple(SCRIPTS),
    SkillKind.LOCAL: PROGRAMS,
}


def find_entries(kind: SkillKind, paths: Collection[str]) -> list[str]:
    """There should be one; of instructions there is none."""
    return [path for path in ENTRIES[kind] if path in paths]


def entry_of(kind: SkillKind, paths: Collection[str], name: str) -> str:
    """Raises Invalid unless there is exactly one."""
    found = find_entries(kind, paths)
    if len(found) == 1:
        return found[0]
    if not ENTRIES[kind]:
        raise Invalid(f"The skill {name} is instructions: there is nothing to run.")
    if found:
        told = f"The skill {name} has more than one file to run: {' and '.join(found)}."
        raise Invalid(told, hint="Keep one, and rename or remove the others.")
    choice = f"{', '.join(ENTRIES[kind][:-1])} or {ENTRIES[kind][-1]}"
    raise Invalid(f"The skill {name} has nothing to run: it needs a {choice}.", hint=_ABOUT[kind])


def program_of(files: Mapping[str, bytes], name: str) -> Program:
    """Of a script. Raises Invalid as `entry_of` does."""
    entry = entry_of(SkillKind.SCRIPT, files, name)
    return Program(SCRIPTS[entry], files[entry])


_ABOUT: Mapping[SkillKind, str] = {
    SkillKind.SCRIPT: "A script defines `run(input)`. Instructions alone are `forge-kind: prompt`.",
    SkillKind.LOCAL: "A program reads JSON and writes JSON. Instructions alone are `forge-kind: prompt`.",
}
