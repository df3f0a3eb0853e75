"""Limits, programs and results of skill runs."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from forge.errors import Invalid
from forge.skills.models import SkillKind, Tier

MB = 1 << 20
MAX_INPUT = 1 * MB
"""Characters of the input JSON."""
MAX_OUTPUT = 4 * MB
"""Characters of the output JSON."""


@dataclass(frozen=True)
class RunLimits:
    memory_bytes: int
    """In addition to what the language runtime itself uses."""
    fuel: int
    """Number of WebAssembly instructions, approximately."""
    seconds: float
    """Wall time, including host calls."""


LIMITS: Mapping[Tier, RunLimits] = {
    Tier.UNTRUSTED: RunLimits(16 * MB, 20_000_000_000, 10.0),
    Tier.VERIFIED: RunLimits(64 * MB, 60_000_000_000, 30.0),
    Tier.LOCAL: RunLimits(256 * MB, 120_000_000_000, 60.0),
}


class RunEnd(StrEnum):
    """How a run of a skill ended."""

    RUNNING = "running"
    DONE = "done"
    RAISED = "raised"
    """The skill raised an error it did not catch."""
    REFUSED = "refused"
    """It used a capability that is not granted."""
    FUEL = "fuel"
    MEMORY = "memory"
    TIME = "time"
    STACK = "stack"
    OUTPUT = "output"
    """Its output is not JSON, or too large."""
    UNUSABLE = "unusable"
    """Its source cannot be parsed, or has no `run`."""
    CRASHED = "crashed"
    """Its process died, or Forge itself was stopped."""


class Language(StrEnum):
    JS = "js"
    PY = "py"
    WASM = "wasm"
    """A compiled component that exports `run: func(input: string) -> result<string, string>`."""


@dataclass(frozen=True)
class Program:
    """The source of a script."""

    language: Language
    source: bytes


@dataclass(frozen=True)
class RunOutcome:
    """The result of a run. Failures of the skill are results, never exceptions."""

    end: RunEnd
    output: JsonValue = None
    error: str = ""
    """Message for the person who ran it; the skill's own message if it raised."""
    fuel: int | None = None
    memory_bytes: int | None = None
    """Peak memory, in addition to the runtime's own. None if it cannot be measured."""
    duration_ms: float = 0.0


class HostError(Exception):
    """An error the skill may catch: a missing file, a host that is not granted."""


class HostRefusal(Exception):
    """The capability is not granted: the run ends with REFUSED, and the skill cannot catch it."""


HostCall = Callable[[str, dict[str, Any]], Awaitable[JsonValue]]
"""The one host function: the name of an operation and its arguments. Raises HostError or HostRefusal."""


class LogLine(BaseModel):
    """A line a skill wrote with `log`."""

    model_config = ConfigDict(frozen=True)

    level: str
    message: str


SCRIPTS: Mapping[str, Language] = {
    "skill.js": Language.JS,
    "skill.py": Language.PY,
    "skill.wasm": Language.WASM,
}
"""Files at the root of the folder."""
PROGRAMS = ("scripts/run.py", "scripts/run.sh", "scripts/run.js")
ENTRY_FILES: Mapping[SkillKind, tuple[str, ...]] = {
    SkillKind.PROMPT: (),
    SkillKind.SCRIPT: tuple(SCRIPTS),
    SkillKind.LOCAL: PROGRAMS,
}


def find_entry_files(kind: SkillKind, paths: Collection[str]) -> list[str]:
    """Return the files that could run; a valid skill has one, instructions have none."""
    return [path for path in ENTRY_FILES[kind] if path in paths]


def entry_file(kind: SkillKind, paths: Collection[str], name: str) -> str:
    """Return the file that runs. Raises Invalid unless there is exactly one."""
    found = find_entry_files(kind, paths)
    if len(found) == 1:
        return found[0]
    if not ENTRY_FILES[kind]:
        raise Invalid(f"The skill {name} consists of instructions; it has nothing to run.")
    if found:
        message = f"The skill {name} has more than one file to run: {' and '.join(found)}."
        raise Invalid(message, hint="Keep one, and rename or remove the others.")
    choice = f"{', '.join(ENTRY_FILES[kind][:-1])} or {ENTRY_FILES[kind][-1]}"
    raise Invalid(f"The skill {name} has nothing to run: it needs a {choice}.", hint=_ENTRY_HINTS[kind])


def program_of(files: Mapping[str, bytes], name: str) -> Program:
    """Return the program of a script. Raises Invalid as `entry_file` does."""
    entry = entry_file(SkillKind.SCRIPT, files, name)
    return Program(SCRIPTS[entry], files[entry])


_ENTRY_HINTS: Mapping[SkillKind, str] = {
    SkillKind.SCRIPT: "A script defines `run(input)`. Instructions alone are `forge-kind: prompt`.",
    SkillKind.LOCAL: "A program reads JSON and writes JSON. Instructions alone are `forge-kind: prompt`.",
}
