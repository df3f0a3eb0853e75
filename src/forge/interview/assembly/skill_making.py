"""Puts a skill that an interview made into the library, together with the end of that interview."""

from collections.abc import Callable
from datetime import datetime

from forge.errors import Conflict
from forge.interview.assembly.changes import hashes_of, one_skill
from forge.interview.assembly.settling import Settle
from forge.interview.assembly.skill_files import manifest_of, skill_of
from forge.interview.config import SkillBuildRequest
from forge.interview.errors import NotThisMode
from forge.interview.models import FileChange
from forge.interview.phases import Mode
from forge.interview.state import Made, SkillMade, State
from forge.skills.library import Library
from forge.skills.models import SKILL_MD, SkillFiles
from forge.skills.own import OwnSkills
from forge.skills.writing import SOURCE_FILES
from forge.store.engine import Store


class SkillMaking:
    def __init__(
        self, database: Store, library: Library, own: OwnSkills, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._library = library
        self._own = own
        self._clock = clock

    async def plan(self, state: State, request: SkillBuildRequest) -> list[FileChange]:
        skill = _skill(state, request)
        return one_skill(skill, await self._before(state, skill))

    async def make(
        self, account_id: str, state: State, request: SkillBuildRequest, *, by: str, settle: Settle
    ) -> Made:
        """The interview ends first: whoever comes second is turned away before a file is touched. Should the end not be
        kept after all, the skill stays, and making it again finds it just so. What was allowed in the interview is
        granted, as far as the skill says how far it goes."""
        skill = _skill(state, request)
        before = await self._before(state, skill)
        made = self._made(skill, request)
        async with self._database.begin() as tx:
            await settle(tx, made)
            await self._library.write(skill, replace=before is not None)
            await self._own.keep(tx, account_id, skill.name, request.capabilities or (), by=by)
        return made

    async def _before(self, state: State, skill: SkillFiles) -> SkillFiles | None:
        """What is there, if it is what is being changed. Nothing else is written over."""
        if not await self._library.exists(skill.name):
            return None
        found = await self._library.read(skill.name)
        if found == skill:
            return found
        if state.basis.skill_name != skill.name:
            raise Conflict(f"There is a skill called {skill.name} already.", hint="Choose another name.")
        if found != state.basis.skill_files:
            raise Conflict(
                f"The skill {skill.name} was changed since this interview began.",
                hint="Begin anew with the skill as it is now, or give this one another name.",
            )
        return found

    def _made(self, skill: SkillFiles, request: SkillBuildRequest) -> Made:
        manifest = manifest_of(skill)
        return Made(
            skill=SkillMade(
                name=skill.name,
                description=manifest.description,
                skill_md_content=skill.files[SKILL_MD],
                has_source_code=manifest.kind in SOURCE_FILES,
                suggested_capabilities=[one.value for one in manifest.capabilities],
                folder=str(self._library.path(skill.name)),
            ),
            hashes=hashes_of(one_skill(skill, None)),
            config=request.model_dump_json(),
            at=self._clock(),
        )


def _skill(state: State, request: SkillBuildRequest) -> SkillFiles:
    if state.mode is not Mode.SKILL:
        raise NotThisMode("This interview is about a bot.", hint="Assemble the bot instead of a skill.")
    return skill_of(state, request)
