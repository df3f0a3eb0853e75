"""The files of a finished interview once more, from what is saved of it alone."""

from collections.abc import Iterable

from forge.bots.models import BotFile
from forge.errors import Conflict
from forge.interview.assembly.changes import (
    bot_path,
    changed_bot,
    hashes_of,
    new_bots,
    one_skill,
    skill_path,
    skills,
)
from forge.interview.assembly.changing import changed_files
from forge.interview.assembly.files import files_of
from forge.interview.assembly.skill_files import skill_of
from forge.interview.assembly.stock import written
from forge.interview.completing import to_skill_request
from forge.interview.config import BuilderConfig, SkillBuildRequest
from forge.interview.models import FileChange
from forge.interview.phases import Mode
from forge.interview.state import State
from forge.interview.writing import settings_of
from forge.skills.models import SKILL_MD


def replay(state: State) -> list[FileChange]:
    """As they were written; of an interview that made nothing yet, as a new bot or skill would be."""
    if state.mode is Mode.SKILL:
        skill = skill_of(state, _request(state))
        is_change = state.basis.skill_name == skill.name
        return one_skill(skill, state.basis.skill_files if is_change else None)
    config = _config(state)
    return [
        *_bots(state, config),
        *skills(written(request) for request in config.skills if _is_new(state, request.name)),
    ]


def verify(state: State, changes: Iterable[FileChange]) -> list[str]:
    """Files that are not what was written then, by their paths; those that are missing count."""
    before = state.made.hashes if state.made else {}
    now = hashes_of(changes)
    return sorted(path for path in {*before, *now} if before.get(path) != now.get(path))


def _bots(state: State, config: BuilderConfig) -> list[FileChange]:
    slugs = [bot.bot_slug for bot in state.made.bots] if state.made else []
    if state.mode is not Mode.RECONFIGURE:
        drafts = files_of(state, config)
        return new_bots(drafts, slugs or [draft.slug for draft in drafts])
    if state.made is None:
        raise Conflict("Nothing was changed in this interview yet.", hint="Finish it first.")
    paths = {file: bot_path(slugs[0], file) for file in BotFile}
    before = {file: state.made.before[path] for file, path in paths.items() if path in state.made.before}
    return changed_bot(slugs[0], before, changed_files(state, config, before))


def _is_new(state: State, name: str) -> bool:
    """Whether the skill was written on the way."""
    if state.made is not None:
        return skill_path(name, SKILL_MD) in state.made.hashes
    return all(offer.name != name for offer in state.facts.skills)


def _config(state: State) -> BuilderConfig:
    """As it was confirmed."""
    return BuilderConfig.model_validate_json(state.made.config) if state.made else settings_of(state)


def _request(state: State) -> SkillBuildRequest:
    return SkillBuildRequest.model_validate_json(state.made.config) if state.made else to_skill_request(state)
