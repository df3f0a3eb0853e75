"""Add the skill of an interview to the library and finish the interview in the same transaction."""

from collections.abc import Callable
from datetime import datetime

from forge.errors import Conflict, Invalid
from forge.interview.assembly.bot_assembly import FinishInterview
from forge.interview.assembly.file_changes import hash_changes, skill_changes
from forge.interview.domain.build_config import SkillBuildRequest
from forge.interview.domain.capability_grants import granted_capabilities
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Made, SkillMade, State
from forge.interview.errors import NotThisMode
from forge.interview.models import FileChange
from forge.skills.format.manifest import read_skill_md
from forge.skills.format.skill_writer import SOURCE_FILES, SkillText, edit_skill, template_skill
from forge.skills.library.library import Library
from forge.skills.models import SKILL_MD, Manifest, SkillFiles
from forge.skills.records import OwnSkills
from forge.store.database import Store


class SkillCreator:
    def __init__(
        self, database: Store, library: Library, own: OwnSkills, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._library = library
        self._own = own
        self._clock = clock

    async def plan(self, state: State, request: SkillBuildRequest) -> list[FileChange]:
        skill = _skill(state, request)
        return skill_changes(skill, await self._before(state, skill))

    async def make(
        self, account_id: str, state: State, request: SkillBuildRequest, *, by: str, finish: FinishInterview
    ) -> Made:
        """Finish the interview first, so that the loser of a race is rejected before it touches a file. If
        the transaction fails afterwards, the skill stays, and a retry finds it unchanged. Capabilities
        confirmed in the interview are granted with the scopes that the skill declares; others that the
        request names are declared only."""
        skill = _skill(state, request)
        before = await self._before(state, skill)
        made = self._made(skill, request)
        granted = [one for one in granted_capabilities(state) if one in (request.capabilities or ())]
        async with self._database.begin() as tx:
            await finish(tx, made)
            if before is not None:
                await self._own.check_change(tx, account_id, skill.name)
            await self._library.write(skill, replace=before is not None)
            await self._own.save(tx, account_id, skill.name, granted, by=by)
        return made

    async def _before(self, state: State, skill: SkillFiles) -> SkillFiles | None:
        """Return the existing skill if it is the one being changed. Raise rather than overwrite any other."""
        if not await self._library.exists(skill.name):
            return None
        found = await self._library.read(skill.name)
        if found == skill:
            return found
        if state.basis.skill_name != skill.name:
            raise Conflict(f"Skill {skill.name} already exists.", hint="Choose another name.")
        if found != state.basis.skill_files:
            raise Conflict(
                f"Skill {skill.name} changed since this interview started.",
                hint="Start a new interview with the current skill, or choose another name.",
            )
        return found

    def _made(self, skill: SkillFiles, request: SkillBuildRequest) -> Made:
        manifest = _require_manifest(skill)
        return Made(
            skill=SkillMade(
                name=skill.name,
                description=manifest.description,
                skill_md_content=skill.files[SKILL_MD],
                has_source_code=manifest.kind in SOURCE_FILES,
                suggested_capabilities=[one.value for one in manifest.capabilities],
                folder=str(self._library.path(skill.name)),
            ),
            hashes=hash_changes(skill_changes(skill, None)),
            config=request.model_dump(mode="json"),
            at=self._clock(),
        )


def _skill(state: State, request: SkillBuildRequest) -> SkillFiles:
    if state.mode is not Mode.SKILL:
        raise NotThisMode.is_about_a_bot()
    return confirmed_skill(state, request)


def confirmed_skill(state: State, request: SkillBuildRequest) -> SkillFiles:
    """Return the written and tried skill with the confirmed name and capabilities, or a template if none was
    written."""
    if state.written is None or state.written.skill is None:
        return template_skill(skill_text(state, request), state.basis.skill_files)
    written = state.written.skill
    manifest = _require_manifest(written)
    if (manifest.description, manifest.kind) != (request.description, request.skill_type):
        what = "description" if manifest.kind is request.skill_type else "kind"
        raise Invalid(
            f"The skill was written for a different {what}.",
            hint="Go back in the interview and change it there: the skill is then rewritten and tested again.",
            field=f"skill_request.{'description' if what == 'description' else 'skill_type'}",
        )
    allowed = manifest.capabilities if request.capabilities is None else request.capabilities
    return edit_skill(written, name=request.name, capabilities=tuple(allowed))


def skill_text(state: State, request: SkillBuildRequest) -> SkillText:
    known = state.config
    return SkillText(
        name=request.name,
        description=request.description,
        kind=request.skill_type,
        trigger=known.trigger or "",
        steps=known.steps or "",
        capabilities=tuple(request.capabilities or ()),
    )


def _require_manifest(skill: SkillFiles) -> Manifest:
    """Read the manifest. Raise when SKILL.md is invalid."""
    found = read_skill_md(skill.files.get(SKILL_MD, ""), skill.name)
    if found.manifest is None:
        raise found.error
    return found.manifest
