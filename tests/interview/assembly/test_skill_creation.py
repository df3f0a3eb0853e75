"""Creating skills: exactly as tested, without overwriting others."""

import asyncio
from typing import Any

import pytest
from tests.interview.assembly.workbench import ME, AlreadyMade, Workbench, contents, interview

from forge.errors import Conflict, Invalid
from forge.interview.domain.build_config import SkillBuildRequest
from forge.interview.domain.capability_grants import ALLOW, capability_topic
from forge.interview.domain.dialogue import Chosen, Mode, Phase
from forge.interview.domain.state import Basis, Exchange, InterviewSpeaker, Made, State, Written
from forge.interview.errors import NotThisMode
from forge.interview.guide.questions import Choice, QuestionContext, build_question
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.skills.format.skill_writer import SkillText, render_skill
from forge.skills.models import Capability, Scope, SkillCase, SkillFiles, SkillKind, Tier
from forge.skills.skill_state import SkillStates
from forge.skills.views import SkillState
from forge.store.database import Tx

SOURCE = "def run(input: dict) -> dict:\n    return {'sum': input['a'] + input['b']}\n"


def skill_request(**more: Any) -> SkillBuildRequest:
    return SkillBuildRequest.model_validate(
        {"name": "add-up", "description": "Adds two numbers.", "skill_type": "script", **more}
    )


def skill_files(**more: Any) -> SkillFiles:
    text = SkillText(
        name="add-up",
        description="Adds two numbers.",
        kind=SkillKind.SCRIPT,
        capabilities=(Capability.LOG, Capability.KV),
        source=SOURCE,
        cases=(SkillCase(name="two", input={"a": 1, "b": 1}, expect={"sum": 2}),),
    )
    return render_skill(text, **more)


def skill_interview(skill: SkillFiles | None = None, **more: Any) -> State:
    done = Written(of="these settings", by=InterviewSpeaker.MODEL, skill=skill) if skill else None
    return interview(Mode.SKILL, written=done, **more)


async def test_written_skill_is_created_unchanged(workbench: Workbench):
    state = skill_interview(skill_files())
    await workbench.begin(state)
    plan = await workbench.assembly.plan_skill(state, skill_request())
    assert workbench.on_disk() == {}
    made = await workbench.create(state, skill_request())
    assert (
        workbench.on_disk()
        == contents(plan)
        == {f"skills/add-up/{path}": text for path, text in skill_files().files.items()}
    )
    assert made.skill is not None
    assert (made.skill.name, made.skill.has_source_code) == ("add-up", True)
    assert made.skill.suggested_capabilities == ["kv", "log"]
    assert made.skill.skill_md_content == skill_files().files["SKILL.md"]
    assert made.skill.folder == str(workbench.environment.data_dir / "skills" / "add-up")
    assert made.hashes == {path: hash_text(text) for path, text in workbench.on_disk().items()}
    assert await workbench.result() == made
    skill = await workbench.library.find("add-up")
    assert (skill.manifest.kind, skill.manifest.metadata["forge-origin"]) == (
        SkillKind.SCRIPT,
        "builder-created",
    )


async def test_name_and_capabilities_can_be_edited_in_the_review(workbench: Workbench):
    state = skill_interview(skill_files())
    await workbench.begin(state)
    await workbench.create(state, skill_request(name="sum-up", capabilities=["log"]))
    skill = await workbench.library.find("sum-up")
    assert skill.manifest.capabilities == [Capability.LOG]
    assert (await workbench.library.read("sum-up")).files["skill.py"] == SOURCE


@pytest.mark.parametrize("other", [{"description": "Sends mail."}, {"skill_type": "local"}])
async def test_request_that_differs_from_the_written_skill_is_rejected(
    workbench: Workbench, other: dict[str, str]
):
    with pytest.raises(Invalid) as caught:
        await workbench.create(skill_interview(skill_files()), skill_request(**other))
    assert "Go back in the interview" in (caught.value.hint or "")
    assert workbench.on_disk() == {}


async def test_unwritten_skill_is_created_from_the_template(workbench: Workbench):
    state = skill_interview()
    await workbench.begin(state)
    made = await workbench.create(state, skill_request(skill_type="prompt"))
    assert made.skill is not None
    assert not made.skill.has_source_code
    assert (await workbench.library.find("add-up")).manifest.description == "Adds two numbers."


async def test_existing_skill_is_not_overwritten(workbench: Workbench):
    other = SkillFiles(
        name="add-up", files={"SKILL.md": "---\nname: add-up\ndescription: Mine.\n---\n\nMine.\n"}
    )
    await workbench.library.write(other)
    before = workbench.on_disk()
    for state, request in (
        (skill_interview(skill_files()), skill_request()),
        (skill_interview(), skill_request(name="summarize")),
    ):
        with pytest.raises(Conflict) as caught:
            await workbench.create(state, request)
        assert caught.value.hint == "Choose another name."
    assert workbench.on_disk() == before


async def test_changed_skill_shows_diff_and_keeps_other_files(workbench: Workbench):
    await workbench.library.write(skill_files())
    old = await workbench.library.read("add-up")
    files = {**old.files, "SKILL.md": old.files["SKILL.md"].replace("0.1.0", "0.1.1")}
    state = skill_interview(
        SkillFiles(name="add-up", files=files), basis=Basis(skill_name="add-up", skill_files=old)
    )
    await workbench.begin(state)
    plan = {change.path: change for change in await workbench.assembly.plan_skill(state, skill_request())}
    assert "\n-  version: 0.1.0\n+  version: 0.1.1\n" in plan["skills/add-up/SKILL.md"].diff
    assert plan["skills/add-up/skill.py"].diff == ""
    await workbench.create(state, skill_request())
    assert (await workbench.library.find("add-up")).manifest.version == "0.1.1"


async def test_concurrently_changed_skill_is_not_overwritten(workbench: Workbench):
    await workbench.library.write(skill_files())
    old = await workbench.library.read("add-up")
    path = workbench.library.path("add-up") / "SKILL.md"
    path.write_text(path.read_text() + "\nBy hand.\n")
    files = {**old.files, "SKILL.md": old.files["SKILL.md"].replace("0.1.0", "0.1.1")}
    state = skill_interview(
        SkillFiles(name="add-up", files=files), basis=Basis(skill_name="add-up", skill_files=old)
    )
    with pytest.raises(Conflict, match="changed since this interview started"):
        await workbench.create(state, skill_request())
    assert path.read_text().endswith("By hand.\n")


async def test_starter_skill_can_be_edited(workbench: Workbench):
    old = await workbench.library.read("summarize")
    found = await workbench.library.find("summarize")
    state = skill_interview(basis=Basis(skill_name="summarize", skill_files=old))
    await workbench.begin(state)
    request = SkillBuildRequest(name="summarize", description=found.manifest.description)
    await workbench.create(state, request)
    edited = await workbench.library.find("summarize")
    assert (edited.source, found.source) == ("library", "starter")
    assert edited.manifest.version != found.manifest.version


async def test_failed_finish_leaves_no_skill(workbench: Workbench):
    async def refuse(_tx: Tx, _made: Made) -> None:
        raise AlreadyMade("Another request was faster.")

    with pytest.raises(AlreadyMade):
        await workbench.assembly.create_skill(
            ME, skill_interview(skill_files()), skill_request(), by="Ada", finish=refuse
        )
    assert workbench.on_disk() == {}


async def test_failed_skill_write_keeps_the_interview_open(workbench: Workbench):
    state = skill_interview(skill_files())
    await workbench.begin(state)
    workbench.environment.data_dir.mkdir(parents=True)
    (workbench.environment.data_dir / "skills").write_text("in the way")
    with pytest.raises(Exception, match=r"."):
        await workbench.create(state, skill_request())
    assert await workbench.result() is None


async def test_concurrent_confirmations_create_one_skill(workbench: Workbench):
    state = skill_interview(skill_files())
    await workbench.begin(state)
    results = await asyncio.gather(
        *(workbench.create(state, skill_request()) for _ in range(3)), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in results) == ["AlreadyMade", "AlreadyMade", "Made"]


async def test_bot_interview_cannot_create_a_skill(workbench: Workbench):
    with pytest.raises(NotThisMode):
        await workbench.create(interview(), skill_request())


def allowed(capability: Capability) -> Exchange:
    """Return a question about a capability that was answered with yes."""
    context = QuestionContext(Mode.SKILL, Phase.SKILLS, capability_topic(capability, Scope()))
    choices = [
        Choice(ALLOW, "Allow it", "It stores values."),
        Choice("deny", "Do not allow it", "It forgets."),
    ]
    asked = build_question(context, "Allow this?", choices, free=None)
    return Exchange(number=1, asked=asked, answer=Chosen(index=0), label="Allow it", answered_at=now())


async def test_confirmed_capabilities_are_granted_for_the_current_folder(workbench: Workbench):
    request = skill_request(capabilities=[Capability.KV, Capability.EXEC_COMMAND])
    state = skill_interview(skill_files(), exchanges=[allowed(Capability.KV)])
    await workbench.begin(state)
    await workbench.create(state, request)
    known = await SkillStates(workbench.environment.database, workbench.library).get(ME, request.name)
    assert (known.tier, known.source.type) == (Tier.LOCAL, "own")
    assert list(known.active_grants) == [Capability.KV]
    text = (workbench.library.path(request.name) / "SKILL.md").read_text()
    (workbench.library.path(request.name) / "SKILL.md").write_text(text + "\nAnd more.\n")
    edited = await SkillStates(workbench.environment.database, workbench.library).get(ME, request.name)
    assert (list(edited.active_grants), edited.is_edited, edited.state) == ([], True, SkillState.REVIEW)
