"""The runtimes that came with Forge: a component for each language, and what is known about it."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.errors import Unavailable

BUILT = Path(__file__).parent / "built"
MANIFEST = "runtimes.json"
COMPILED = "compiled"
"""Made beside them where they are built; a wheel leaves it out, since it fits one kind of processor only."""


@dataclass(frozen=True)
class Runtime:
    path: Path
    sha256: str
    baseline_bytes: int
    """What it takes before the first line of a skill."""


@cache
def runtimes() -> dict[str, Runtime]:
    """By language."""
    try:
        told = json.loads((BUILT / MANIFEST).read_text())
    except FileNotFoundError as error:
        raise Unavailable("the runtimes of skills are not built", hint="Run `make runtimes`.") from error
    return {
        language: Runtime(BUILT / one["file"], one["sha256"], one["baseline_bytes"])
        for language, one in told.items()
    }
