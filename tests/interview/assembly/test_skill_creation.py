"""Creating skills: exactly as tested, without overwriting others."""

import asyncio
from typing import Any

import pytest
from tests.interview.assembly.bench import ME, AlreadyMade, Workbench, contents, interview

from forge.errors import Conflict, Invalid
from forge.interview.domain.build_config import SkillBuildRequest
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis, InterviewSpeaker, Made, State, Written
from forge.interview.errors import NotThisMode
from forge.kernel.hashing import hash_text
from forge.skills.format.skill_writer import SkillText, render_skill
from forge.skills.models import Capability, SkillCase, SkillFiles, SkillKind, Tier
from forge.skills.skill_state import SkillStates
from forge.skills.views import SkillState
from forge.store.database import Tx

SOURCE = "def run(input: dict) -> dict:\n    return {'sum': input['a'] + input['b']}\n"


def wanted(**more: Any) -> SkillBuildRequest:
    return SkillBuildRequest.model_validate(
        {"name": "add-up", "description": "Adds two numbers.", "skill_type": "script", **more}
    )


def written(**more: Any) -> SkillFiles:
    text = SkillText(
        name="add-up",
        description="Adds two numbers.",
        kind=SkillKind.SCRIPT,
        capabilities=(Capability.LOG, Capability.KV),
        source=SOURCE,
        cases=(SkillCase(name="two", input={"a": 1, "b": 1}, expect={"sum": 2}),),
    )
    return render_skill(text, **more)


def about(skill: SkillFiles | None = None, **more: Any) -> State:
    done = Written(of="these settings", by=InterviewSpeaker.MODEL, skill=skill) if skill else None
    return interview(Mode.SKILL, written=done, **more)


async def test_written_skill_is_created_unchanged(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    plan = await bench.assembly.plan_skill(state, wanted())
    assert bench.on_disk() == {}
    made = await bench.create(state, wanted())
    assert (
        bench.on_disk()
        == contents(plan)
        == {f"skills/add-up/{path}": text for path, text in written().files.items()}
    )
    assert made.skill is not None
    assert (made.skill.name, made.skill.has_source_code) == ("add-up", True)
    assert made.skill.suggested_capabilities == ["kv", "log"]
    assert made.skill.skill_md_content == written().files["SKILL.md"]
    assert made.skill.folder == str(bench.shop.data_dir / "skills" / "add-up")
    assert made.hashes == {path: hash_text(text) for path, text in bench.on_disk().items()}
    assert await bench.ended() == made
    skill = await bench.library.find("add-up")
    assert (skill.manifest.kind, skill.manifest.metadata["forge-origin"]) == (
        SkillKind.SCRIPT,
        "builder-created",
    )


async def test_name_and_capabilities_can_be_edited_in_the_review(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    await bench.create(state, wanted(name="sum-up", capabilities=["log"]))
    skill = await bench.library.find("sum-up")
    assert skill.manifest.capabilities == [Capability.LOG]
    assert (await bench.library.read("sum-up")).files["skill.py"] == SOURCE


@pytest.mark.parametrize("other", [{"description": "Sends mail."}, {"skill_type": "local"}])
async def test_request_that_differs_from_the_written_skill_is_rejected(
    bench: Workbench, other: dict[str, str]
):
    with pytest.raises(Invalid) as caught:
        await bench.create(about(written()), wanted(**other))
    assert "Go back in the interview" in (caught.value.hint or "")
    assert bench.on_disk() == {}


async def test_unwritten_skill_is_created_from_the_template(bench: Workbench):
    state = about()
    await bench.begin(state)
    made = await bench.create(state, wanted(skill_type="prompt"))
    assert made.skill is not None
    assert not made.skill.has_source_code
    assert (await bench.library.find("add-up")).manifest.description == "Adds two numbers."


async def test_existing_skill_is_not_overwritten(bench: Workbench):
    other = SkillFiles(
        name="add-up", files={"SKILL.md": "---\nname: add-up\ndescription: Mine.\n---\n\nMine.\n"}
    )
    await bench.library.write(other)
    before = bench.on_disk()
    for state, request in ((about(written()), wanted()), (about(), wanted(name="summarize"))):
        with pytest.raises(Conflict) as caught:
            await bench.create(state, request)
        assert caught.value.hint == "Choose another name."
    assert bench.on_disk() == before


async def test_changed_skill_shows_diff_and_keeps_other_files(bench: Workbench):
    await bench.library.write(written())
    old = await bench.library.read("add-up")
    files = {**old.files, "SKILL.md": old.files["SKILL.md"].replace("0.1.0", "0.1.1")}
    state = about(SkillFiles(name="add-up", files=files), basis=Basis(skill_name="add-up", skill_files=old))
    await bench.begin(state)
    plan = {change.path: change for change in await bench.assembly.plan_skill(state, wanted())}
    assert "\n-  version: 0.1.0\n+  version: 0.1.1\n" in plan["skills/add-up/SKILL.md"].diff
    assert plan["skills/add-up/skill.py"].diff == ""
    await bench.create(state, wanted())
    assert (await bench.library.find("add-up")).manifest.version == "0.1.1"


async def test_concurrently_changed_skill_is_not_overwritten(bench: Workbench):
    await bench.library.write(written())
    old = await bench.library.read("add-up")
    path = bench.library.path("add-up") / "SKILL.md"
    path.write_text(path.read_text() + "\nBy hand.\n")
    files = {**old.files, "SKILL.md": old.files["SKILL.md"].replace("0.1.0", "0.1.1")}
    state = about(SkillFiles(name="add-up", files=files), basis=Basis(skill_name="add-up", skill_files=old))
    with pytest.raises(Conflict, match="changed since this interview started"):
        await bench.create(state, wanted())
    assert path.read_text().endswith("By hand.\n")


async def test_starter_skill_can_be_edited(bench: Workbench):
    old = await bench.library.read("summarize")
    found = await bench.library.find("summarize")
    state = about(basis=Basis(skill_name="summarize", skill_files=old))
    await bench.begin(state)
    request = SkillBuildRequest(name="summarize", description=found.manifest.description)
    await bench.create(state, request)
    mine = await bench.library.find("summarize")
    assert (mine.source, found.source) == ("library", "starter")
    assert mine.manifest.version != found.manifest.version


async def test_failed_finish_leaves_no_skill(bench: Workbench):
    async def refuse(_tx: Tx, _made: Made) -> None:
        raise AlreadyMade("Somebody else was quicker.")

    with pytest.raises(AlreadyMade):
        await bench.assembly.create_skill(ME, about(written()), wanted(), by="Ada", finish=refuse)
    assert bench.on_disk() == {}


async def test_failed_skill_write_keeps_the_interview_open(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    bench.shop.data_dir.mkdir(parents=True)
    (bench.shop.data_dir / "skills").write_text("in the way")
    with pytest.raises(Exception, match=r"."):
        await bench.create(state, wanted())
    assert await bench.ended() is None


async def test_concurrent_confirmations_create_one_skill(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    results = await asyncio.gather(*(bench.create(state, wanted()) for _ in range(3)), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["AlreadyMade", "AlreadyMade", "Made"]


async def test_bot_interview_cannot_create_a_skill(bench: Workbench):
    with pytest.raises(NotThisMode):
        await bench.create(interview(), wanted())


async def test_confirmed_capabilities_are_granted_for_the_current_folder(bench):
    request = wanted(capabilities=[Capability.KV])
    await bench.begin(about(written()))
    await bench.create(about(written()), request)
    known = await SkillStates(bench.shop.database, bench.library).get(ME, request.name)
    assert (known.tier, known.source.type) == (Tier.LOCAL, "own")
    assert list(known.active_grants) == [Capability.KV]
    text = (bench.library.path(request.name) / "SKILL.md").read_text()
    (bench.library.path(request.name) / "SKILL.md").write_text(text + "\nAnd more.\n")
    edited = await SkillStates(bench.shop.database, bench.library).get(ME, request.name)
    assert (list(edited.active_grants), edited.is_edited, edited.state) == ([], True, SkillState.REVIEW)
