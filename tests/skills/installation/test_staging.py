"""Stages of fetched skills are kept on disk for their owner for an hour."""

from datetime import timedelta
from pathlib import Path

import pytest

from forge.errors import Gone, NotFound
from forge.kernel.clock import now
from forge.skills.installation import staging as module
from forge.skills.installation.skill_finder import FoundSkill
from forge.skills.installation.staging import MAX_STAGES, StageEntry, Stages
from forge.skills.models import GitSource, SkillProblem, ZipSource

ODD_NAME = "ä\\n\n" + chr(0x1F600) + "/.."
SKILLS = [
    StageEntry(
        FoundSkill(
            "notes", "skills/notes", {"SKILL.md": b"---\n", "a/b.bin": b"\x00\xff", ODD_NAME: b"x"}, []
        ),
        GitSource(url="https://example.com/a", path="skills/notes", commit="0" * 40),
    ),
    StageEntry(
        FoundSkill("broken", "", {}, [SkillProblem(message="passwd: it is a link.", hint="No.")]),
        ZipSource(name="a.zip", sha256="0" * 64),
    ),
]


@pytest.fixture
def stages(tmp_path: Path) -> Stages:
    return Stages(tmp_path / "staging")


async def test_stage_survives_a_restart_and_is_private(stages: Stages, tmp_path: Path):
    stage = await stages.keep("ada", SKILLS)
    assert await Stages(tmp_path / "staging").open("ada", stage.id) == stage
    assert stage.skills == SKILLS
    for use in (stages.open, stages.drop):
        with pytest.raises(NotFound):
            await use("bob", stage.id)
    await stages.drop("ada", stage.id)
    with pytest.raises(NotFound):
        await stages.open("ada", stage.id)


@pytest.mark.parametrize("stage_id", ["..", "../x", "", "a/b", "x" * 32, "." * 20])
async def test_invalid_stage_id_is_not_found(stages: Stages, stage_id: str):
    with pytest.raises(NotFound):
        await stages.open("ada", stage_id)


async def test_stage_expires_after_an_hour_and_is_deleted(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stage = await stages.keep("ada", SKILLS)
    monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=1, seconds=1))
    with pytest.raises(Gone):
        await stages.open("ada", stage.id)
    (tmp_path / "staging" / ".new-left").mkdir()
    again = await stages.keep("ada", SKILLS)
    assert [path.name for path in (tmp_path / "staging").iterdir()] == [again.id]


async def test_oldest_stage_is_removed_at_the_limit(stages: Stages):
    stage = [await stages.keep("ada", SKILLS[1:]) for _ in range(MAX_STAGES)]
    other = await stages.keep("bob", SKILLS[1:])
    await stages.keep("ada", SKILLS[1:])
    with pytest.raises(NotFound):
        await stages.open("ada", stage[0].id)
    assert await stages.open("ada", stage[1].id) == stage[1]
    assert await stages.open("bob", other.id) == other
