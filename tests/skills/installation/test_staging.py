"""What was fetched waits on disk, for its owner alone, and for an hour."""

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


async def test_what_was_kept_is_there_after_a_restart_and_for_its_owner_alone(stages: Stages, tmp_path: Path):
    kept = await stages.keep("ada", SKILLS)
    assert await Stages(tmp_path / "staging").open("ada", kept.id) == kept
    assert kept.skills == SKILLS
    for use in (stages.open, stages.drop):
        with pytest.raises(NotFound):
            await use("bob", kept.id)
    await stages.drop("ada", kept.id)
    with pytest.raises(NotFound):
        await stages.open("ada", kept.id)


@pytest.mark.parametrize("stage_id", ["..", "../x", "", "a/b", "x" * 32, "." * 20])
async def test_invalid_stage_id_is_not_found(stages: Stages, stage_id: str):
    with pytest.raises(NotFound):
        await stages.open("ada", stage_id)


async def test_after_an_hour_it_is_gone_and_then_swept(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = await stages.keep("ada", SKILLS)
    monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=1, seconds=1))
    with pytest.raises(Gone):
        await stages.open("ada", kept.id)
    (tmp_path / "staging" / ".new-left").mkdir()
    again = await stages.keep("ada", SKILLS)
    assert [path.name for path in (tmp_path / "staging").iterdir()] == [again.id]


async def test_oldest_stage_is_removed_at_the_limit(stages: Stages):
    kept = [await stages.keep("ada", SKILLS[1:]) for _ in range(MAX_STAGES)]
    other = await stages.keep("bob", SKILLS[1:])
    await stages.keep("ada", SKILLS[1:])
    with pytest.raises(NotFound):
        await stages.open("ada", kept[0].id)
    assert await stages.open("ada", kept[1].id) == kept[1]
    assert await stages.open("bob", other.id) == other
