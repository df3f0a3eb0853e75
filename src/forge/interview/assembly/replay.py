"""Recreate the files of a finished interview from its saved state alone."""

from collections.abc import Iterable

from forge.bots.models import BotFile
from forge.errors import Conflict
from forge.interview.assembly.bot_files import changed_files, render_bots
from forge.interview.assembly.bot_skills import template_for
from forge.interview.assembly.file_changes import (
    bot_path,
    hash_changes,
    new_bot_changes,
    new_skill_changes,
    reconfigured_bot_changes,
    skill_changes,
    skill_path,
)
from forge.interview.assembly.skill_assembly import confirmed_skill
from forge.interview.domain.build_config import BuilderConfig, SkillBuildRequest
from forge.interview.domain.config_builder import current_config, to_skill_request
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import State
from forge.interview.models import FileChange
from forge.skills.models import SKILL_MD


def replay(state: State) -> list[FileChange]:
    """Return the files as they were written, or as they would be for an interview that is not finished."""
    if state.mode is Mode.SKILL:
        skill = confirmed_skill(state, _request(state))
        is_change = state.basis.skill_name == skill.name
        return skill_changes(skill, state.basis.skill_files if is_change else None)
    config = _config(state)
    return [
        *_bots(state, config),
        *new_skill_changes(
            template_for(request) for request in config.skills if _is_new(state, request.name)
        ),
    ]


def find_differences(state: State, changes: Iterable[FileChange]) -> list[str]:
    """Return the paths of files that differ from what was written, missing ones included."""
    before = state.made.hashes if state.made else {}
    now = hash_changes(changes)
    return sorted(path for path in {*before, *now} if before.get(path) != now.get(path))


def _bots(state: State, config: BuilderConfig) -> list[FileChange]:
    slugs = [bot.bot_slug for bot in state.made.bots] if state.made else []
    if state.mode is not Mode.RECONFIGURE:
        drafts = render_bots(state, config)
        return new_bot_changes(drafts, slugs or [draft.slug for draft in drafts])
    if state.made is None:
        raise Conflict("This interview has not changed anything yet.", hint="Finish it first.")
    paths = {file: bot_path(slugs[0], file) for file in BotFile}
    before = {file: state.made.before[path] for file, path in paths.items() if path in state.made.before}
    return reconfigured_bot_changes(slugs[0], before, changed_files(state, config, before))


def _is_new(state: State, name: str) -> bool:
    """Check whether the interview wrote the skill rather than finding it in the library."""
    if state.made is not None:
        return skill_path(name, SKILL_MD) in state.made.hashes
    return all(offer.name != name for offer in state.facts.skills)


def _config(state: State) -> BuilderConfig:
    """Return the confirmed config, or the current one."""
    return BuilderConfig.model_validate(state.made.config) if state.made else current_config(state)


def _request(state: State) -> SkillBuildRequest:
    return SkillBuildRequest.model_validate(state.made.config) if state.made else to_skill_request(state)
