"""The skills that come with Forge: read from its own package, and the same for everybody."""

from functools import cache
from pathlib import Path

from forge.errors import Internal
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD, Skill, SkillFiles, SkillSource

_FOLDER = Path(__file__).parent / "starters"


@cache
def starters() -> dict[str, Skill]:
    """By name, sorted. All of them are instructions: a single file each."""
    return {path.name: _read(path) for path in sorted(_FOLDER.iterdir())}


def starter_files(name: str) -> SkillFiles:
    """Of a starter that there is, as it would lie in the library."""
    return SkillFiles(name=name, files={SKILL_MD: _text(_FOLDER / name)})


def _read(path: Path) -> Skill:
    found = read_skill_md(_text(path), path.name)
    if found.manifest is None:
        raise Internal(f"The starter {path.name} cannot be read: {found.problems[0].message}")
    return Skill(manifest=found.manifest, body=found.body, source=SkillSource.STARTER, files=[])


def _text(path: Path) -> str:
    return (path / SKILL_MD).read_text(encoding="utf-8")
