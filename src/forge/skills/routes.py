"""HTTP routes of the skill library."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response, status

from forge.http.caller import Admin, Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Limit, OptionalLimit
from forge.skills.models import (
    MAX_SKILL_NAME,
    SKILL_NAME_PATTERN,
    Capability,
    SkillFiles,
    SkillKind,
    Tier,
)
from forge.skills.service import Skills
from forge.skills.views import (
    FileContent,
    GrantsWish,
    NewFrame,
    NewSkill,
    RunWish,
    SkillCard,
    SkillDetail,
    SkillEdit,
    SkillRan,
    SkillRun,
    SkillState,
    SkillTestReport,
    SkillTestWish,
    TierWish,
    TryWish,
    Validation,
)

router = APIRouter(prefix="/api/v1/skills", tags=["skills"])

Name = Annotated[
    str, Path(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME, description="Name of the skill.")
]


def _skills(request: Request) -> Skills:
    return request.app.state.skills


Service = Annotated[Skills, Depends(_skills)]


@router.get("")
async def list_skills(  # noqa: PLR0913
    caller: Reader,
    skills: Service,
    q: Annotated[
        str, Query(max_length=200, description="Words in the name, description or categories.")
    ] = "",
    kind: Annotated[SkillKind | None, Query()] = None,
    tier: Annotated[Tier | None, Query()] = None,
    state: Annotated[SkillState | None, Query()] = None,
    capability: Annotated[Capability | None, Query(description="A requested capability.")] = None,
    limit: OptionalLimit = None,
) -> Envelope[list[SkillCard]]:
    """List all skills, including those that cannot be read."""
    found = await skills.find_all(
        caller.account_id, words=q, kind=kind, tier=tier, state=state, capability=capability
    )
    return reply(found[:limit])


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_skill(caller: Writer, body: NewSkill, skills: Service) -> Envelope[SkillDetail]:
    """Create a skill of your own. It gets the tier `local` and no grants."""
    return reply(await skills.create(caller.account_id, body))


@router.post("/frame")
async def frame_skill(caller: Reader, body: NewFrame, skills: Service) -> Envelope[SkillFiles]:
    """Generate initial files that run and pass their tests. Nothing is saved."""
    return reply(skills.generate(body))


@router.post("/validate")
async def validate_skill(caller: Reader, body: NewSkill, skills: Service) -> Envelope[Validation]:
    """Report the problems in these files, with line numbers. Nothing is saved or executed."""
    return reply(await skills.validate(body))


@router.post("/try")
async def try_skill(caller: Writer, body: TryWish, skills: Service) -> Envelope[SkillRan]:
    """Run a script without saving it, with the limits of an untrusted skill and only `log` and a temporary `kv`."""
    return reply(await skills.try_out(body, by=caller.name))


@router.get("/{name}")
async def get_skill(caller: Reader, name: Name, skills: Service) -> Envelope[SkillDetail]:
    return reply(await skills.detail(caller.account_id, name))


@router.put("/{name}")
async def save_skill(caller: Writer, name: Name, body: SkillEdit, skills: Service) -> Envelope[SkillDetail]:
    """Replace the text files. Existing grants lose their effect, because the skill has changed."""
    return reply(await skills.save(caller.account_id, name, body))


@router.delete("/{name}")
async def remove_skill(
    caller: Writer,
    name: Name,
    skills: Service,
    force: Annotated[bool, Query(description="Remove it even if bots or other skills need it.")] = False,
) -> Envelope[SkillCard]:
    """Delete the skill with its grants and stored values. The log of its runs is kept."""
    return reply(await skills.remove(caller.account_id, name, force=force))


@router.get("/{name}/files/{path:path}")
async def get_skill_file(caller: Reader, name: Name, path: str, skills: Service) -> Envelope[FileContent]:
    return reply(await skills.file(name, path))


@router.get(
    "/{name}/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def export_skill(caller: Reader, name: Name, skills: Service) -> Response:
    """Download the skill as a zip, in the format of the standard."""
    data = await skills.export(name)
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return Response(data, media_type="application/zip", headers=headers)


@router.post("/{name}/run")
async def run_skill(caller: Writer, name: Name, body: RunWish, skills: Service) -> Envelope[SkillRan]:
    """Run a skill. A failing skill is a successful response: `end` says how the run ended. The model of bots follows instructions."""
    return reply(await skills.run(caller.account_id, name, body, by=caller.name))


@router.get("/{name}/runs")
async def list_skill_runs(
    caller: Reader, name: Name, skills: Service, cursor: CursorParam, limit: Limit = 50
) -> Envelope[list[SkillRun]]:
    """List the runs of a skill, newest first. Input and output are stored as hashes only."""
    return reply_page(await skills.runs(caller.account_id, name, cursor, limit))


@router.post("/{name}/test")
async def test_skill(
    caller: Writer, name: Name, body: SkillTestWish, skills: Service
) -> Envelope[SkillTestReport]:
    """Run the skill's own test cases, each in a fresh instance; with `triggers`, also test whether a model picks it."""
    return reply(await skills.test(caller.account_id, name, body))


@router.put("/{name}/grants")
async def set_skill_grants(
    caller: Admin, name: Name, body: GrantsWish, skills: Service
) -> Envelope[SkillDetail]:
    """Replace all grants. Only requested capabilities can be granted."""
    return reply(await skills.grant(caller.account_id, name, body, by=caller.name))


@router.delete("/{name}/grants/{capability}")
async def revoke_skill_grant(
    caller: Writer, name: Name, capability: Capability, skills: Service
) -> Envelope[SkillDetail]:
    """Revoke a grant. Takes effect with the next call, also for invocations that are running."""
    return reply(await skills.revoke(caller.account_id, name, capability))


@router.put("/{name}/tier")
async def set_skill_tier(caller: Admin, name: Name, body: TierWish, skills: Service) -> Envelope[SkillDetail]:
    return reply(await skills.set_tier(caller.account_id, name, body.tier))
