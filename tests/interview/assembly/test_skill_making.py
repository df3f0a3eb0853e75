"""Creating a skill: what was tried is what is written, and nothing else is written over."""

import asyncio
from typing import Any

import pytest
from tests.interview.assembly.workbench import ME, AlreadyMade, Workbench, contents, interview

from forge.errors import Conflict, Invalid
from forge.interview.config import SkillBuildRequest
from forge.interview.errors import NotThisMode
from forge.interview.phases import Mode
from forge.interview.state import Basis, Made, Speaker, State, Written
from forge.kernel.hashing import hash_text
from forge.skills.knowing import Knowing
from forge.skills.models import Capability, SkillCase, SkillFiles, SkillKind, Tier
from forge.skills.views import SkillState
from forge.skills.writing import SkillText, render_skill
from forge.store.engine import Tx

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
    done = Written(of="these settings", by=Speaker.MODEL, skill=skill) if skill else None
    return interview(Mode.SKILL, written=done, **more)


async def test_what_was_written_and_tried_is_what_is_made(bench: Workbench):
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


async def test_a_name_and_what_it_may_do_can_be_chosen_at_the_end(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    await bench.create(state, wanted(name="sum-up", capabilities=["log"]))
    skill = await bench.library.find("sum-up")
    assert skill.manifest.capabilities == [Capability.LOG]
    assert (await bench.library.read("sum-up")).files["skill.py"] == SOURCE


@pytest.mark.parametrize("other", [{"description": "Sends mail."}, {"skill_type": "local"}])
async def test_what_was_not_written_for_this_is_not_made(bench: Workbench, other: dict[str, str]):
    with pytest.raises(Invalid) as caught:
        await bench.create(about(written()), wanted(**other))
    assert "Go back in the interview" in (caught.value.hint or "")
    assert bench.on_disk() == {}


async def test_a_skill_that_nobody_wrote_is_written_by_forge(bench: Workbench):
    state = about()
    await bench.begin(state)
    made = await bench.create(state, wanted(skill_type="prompt"))
    assert made.skill is not None
    assert not made.skill.has_source_code
    assert (await bench.library.find("add-up")).manifest.description == "Adds two numbers."


async def test_another_skill_of_that_name_is_never_written_over(bench: Workbench):
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


async def test_a_skill_that_is_changed_shows_what_is_other_and_keeps_the_rest(bench: Workbench):
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


async def test_a_skill_that_was_changed_by_somebody_else_is_left_alone(bench: Workbench):
    await bench.library.write(written())
    old = await bench.library.read("add-up")
    path = bench.library.path("add-up") / "SKILL.md"
    path.write_text(path.read_text() + "\nBy hand.\n")
    files = {**old.files, "SKILL.md": old.files["SKILL.md"].replace("0.1.0", "0.1.1")}
    state = about(SkillFiles(name="add-up", files=files), basis=Basis(skill_name="add-up", skill_files=old))
    with pytest.raises(Conflict, match="was changed since this interview began"):
        await bench.create(state, wanted())
    assert path.read_text().endswith("By hand.\n")


async def test_a_starter_can_be_changed_into_ones_own(bench: Workbench):
    old = await bench.library.read("summarize")
    found = await bench.library.find("summarize")
    state = about(basis=Basis(skill_name="summarize", skill_files=old))
    await bench.begin(state)
    request = SkillBuildRequest(name="summarize", description=found.manifest.description)
    await bench.create(state, request)
    mine = await bench.library.find("summarize")
    assert (mine.source, found.source) == ("library", "starter")
    assert mine.manifest.version != found.manifest.version


async def test_an_interview_that_does_not_end_leaves_no_skill(bench: Workbench):
    async def refuse(_tx: Tx, _made: Made) -> None:
        raise AlreadyMade("Somebody else was quicker.")

    with pytest.raises(AlreadyMade):
        await bench.assembly.create_skill(ME, about(written()), wanted(), by="Ada", settle=refuse)
    assert bench.on_disk() == {}


async def test_when_it_cannot_be_written_the_interview_goes_on(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    bench.shop.data_dir.mkdir(parents=True)
    (bench.shop.data_dir / "skills").write_text("in the way")
    with pytest.raises(Exception, match=r"."):
        await bench.create(state, wanted())
    assert await bench.ended() is None


async def test_two_who_confirm_at_once_make_one_skill(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    results = await asyncio.gather(*(bench.create(state, wanted()) for _ in range(3)), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["AlreadyMade", "AlreadyMade", "Made"]


async def test_an_interview_about_a_bot_makes_no_skill(bench: Workbench):
    with pytest.raises(NotThisMode):
        await bench.create(interview(), wanted())


async def test_what_was_allowed_in_the_interview_is_granted_for_the_folder_as_it_is(bench):
    request = wanted(capabilities=[Capability.KV])
    await bench.begin(about(written()))
    await bench.create(about(written()), request)
    known = await Knowing(bench.shop.database, bench.library).one(ME, request.name)
    assert (known.tier, known.source.type) == (Tier.LOCAL, "own")
    assert list(known.counting) == [Capability.KV]
    text = (bench.library.path(request.name) / "SKILL.md").read_text()
    (bench.library.path(request.name) / "SKILL.md").write_text(text + "\nAnd more.\n")
    edited = await Knowing(bench.shop.database, bench.library).one(ME, request.name)
    assert (list(edited.counting), edited.is_edited, edited.state) == ([], True, SkillState.REVIEW)
