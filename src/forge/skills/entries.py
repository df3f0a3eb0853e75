"""Where a skill that runs begins: the one file its kind says."""

from collections.abc import Iterable, Mapping

from forge.errors import Invalid
from forge.skills.execution import Language, Program
from forge.skills.models import SkillKind

SCRIPTS: Mapping[str, Language] = {
    "skill.js": Language.JS,
    "skill.py": Language.PY,
    "skill.wasm": Language.WASM,
}
PROGRAMS = ("scripts/run.py", "scripts/run.sh", "scripts/run.js")


def entries_of(kind: SkillKind) -> tuple[str, ...]:
    """The files it may begin with; of which it has one."""
    match kind:
        case SkillKind.PROMPT:
            return ()
        case SkillKind.SCRIPT:
            return tuple(SCRIPTS)
        case SkillKind.LOCAL:
            return PROGRAMS


def find_entries(kind: SkillKind, files: Iterable[str]) -> list[str]:
    there = set(files)
    return [path for path in entries_of(kind) if path in there]


def entry_of(kind: SkillKind, files: Iterable[str], name: str) -> str:
    """Raises Invalid when there is none, or more than one."""
    found = find_entries(kind, files)
    if len(found) == 1:
        return found[0]
    named = ", ".join(entries_of(kind))
    if found:
        raise Invalid(f"The skill {name} has {' and '.join(found)}.", hint="Keep one of them: it begins there.")
    raise Invalid(f"The skill {name} has nothing to run.", hint=f"It needs one of {named}.")


def program_of(files: Mapping[str, bytes], name: str) -> Program:
    entry = entry_of(SkillKind.SCRIPT, files, name)
    return Program(SCRIPTS[entry], files[entry])
