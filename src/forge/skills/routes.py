"""The HTTP of skills. Translates only."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response, status

from forge.http.caller import Admin, Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.paging import CursorParam, Limit
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

Name = Annotated[str, Path(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME, description="Of a skill.")]


def _skills(request: Request) -> Skills:
    return request.app.state.skills


Service = Annotated[Skills, Depends(_skills)]


@router.get("")
async def list_skills(
    caller: Reader,
    skills: Service,
    q: Annotated[
        str, Query(max_length=200, description="Words in the name, description or categories.")
    ] = "",
    kind: Annotated[SkillKind | None, Query()] = None,
    tier: Annotated[Tier | None, Query()] = None,
    state: Annotated[SkillState | None, Query()] = None,
    capability: Annotated[Capability | None, Query(description="That it asks for.")] = None,
) -> Envelope[list[SkillCard]]:
    """All there are, those that cannot be read included."""
    found = await skills.find_all(
        caller.account_id, words=q, kind=kind, tier=tier, state=state, capability=capability
    )
    return reply(found)


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_skill(caller: Writer, body: NewSkill, skills: Service) -> Envelope[SkillDetail]:
    """Your own: it gets the tier local, and nothing it asks for is granted."""
    return reply(await skills.create(caller.account_id, body))


@router.post("/frame")
async def frame_skill(caller: Reader, body: NewFrame, skills: Service) -> Envelope[SkillFiles]:
    """Files to begin with: what is there runs and passes its tests. Nothing is saved."""
    return reply(skills.frame(body))


@router.post("/validate")
async def validate_skill(caller: Reader, body: NewSkill, skills: Service) -> Envelope[Validation]:
    """What is wrong with these files, with lines. Nothing is saved or executed."""
    return reply(await skills.validate(body))


@router.post("/try")
async def try_skill(caller: Writer, body: TryWish, skills: Service) -> Envelope[SkillRan]:
    """Run a script that is not saved: with the limits of an untrusted skill, and nothing granted but `log` and `kv`."""
    return reply(await skills.try_out(body, by=caller.name))


@router.get("/{name}")
async def get_skill(caller: Reader, name: Name, skills: Service) -> Envelope[SkillDetail]:
    return reply(await skills.detail(caller.account_id, name))


@router.put("/{name}")
async def save_skill(caller: Writer, name: Name, body: SkillEdit, skills: Service) -> Envelope[SkillDetail]:
    """Its text files. What was granted no longer counts: the skill is another now."""
    return reply(await skills.save(caller.account_id, name, body))


@router.delete("/{name}")
async def remove_skill(
    caller: Writer,
    name: Name,
    skills: Service,
    force: Annotated[bool, Query(description="Even though bots or other skills need it.")] = False,
) -> Envelope[SkillCard]:
    """For good, with what it was granted and what it kept. The log of its runs stays."""
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
    """A zip that any client of the standard takes."""
    data = await skills.export(name)
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return Response(data, media_type="application/zip", headers=headers)


@router.post("/{name}/run")
async def run_skill(caller: Writer, name: Name, body: RunWish, skills: Service) -> Envelope[SkillRan]:
    """Whatever the skill does is an answer: `end` says how it ended. Instructions are followed by the model of bots."""
    return reply(await skills.run(caller.account_id, name, body, by=caller.name))


@router.get("/{name}/runs")
async def list_skill_runs(
    caller: Reader, name: Name, skills: Service, cursor: CursorParam, limit: Limit = 50
) -> Envelope[list[SkillRun]]:
    """The log, the latest first: what went in and came out is there as a hash."""
    return reply_page(await skills.runs(caller.account_id, name, cursor, limit))


@router.post("/{name}/test")
async def test_skill(
    caller: Writer, name: Name, body: SkillTestWish, skills: Service
) -> Envelope[SkillTestReport]:
    """Its own cases, each in a fresh instance; with `triggers` also whether a model picks it."""
    return reply(await skills.test(caller.account_id, name, body))


@router.put("/{name}/grants")
async def set_skill_grants(
    caller: Admin, name: Name, body: GrantsWish, skills: Service
) -> Envelope[SkillDetail]:
    """All that it may do from now on. Only what it asks for can be granted."""
    return reply(await skills.grant(caller.account_id, name, body, by=caller.name))


@router.delete("/{name}/grants/{capability}")
async def revoke_skill_grant(
    caller: Writer, name: Name, capability: Capability, skills: Service
) -> Envelope[SkillDetail]:
    """It counts from the next call on, of running invocations too."""
    return reply(await skills.revoke(caller.account_id, name, capability))


@router.put("/{name}/tier")
async def set_skill_tier(caller: Admin, name: Name, body: TierWish, skills: Service) -> Envelope[SkillDetail]:
    return reply(await skills.set_tier(caller.account_id, name, body.tier))
