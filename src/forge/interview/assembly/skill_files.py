"""The files of a skill that an interview made, as they were confirmed."""

from forge.errors import Invalid
from forge.interview.config import SkillBuildRequest
from forge.interview.state import State
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD, Manifest, SkillFiles
from forge.skills.writing import SkillText, edited, template_skill


def skill_of(state: State, request: SkillBuildRequest) -> SkillFiles:
    """What was written and tried, with its name and what it may do as they were confirmed; whoever never let it be
    written gets what Forge writes by itself."""
    if state.written is None or state.written.skill is None:
        return template_skill(text_of(state, request), state.basis.skill_files)
    written = state.written.skill
    manifest = manifest_of(written)
    if (manifest.description, manifest.kind) != (request.description, request.skill_type):
        what = "description" if manifest.kind is request.skill_type else "kind"
        raise Invalid(
            f"The skill was written for another {what}.",
            hint="Go back in the interview and say it there: then it is written and tried again.",
            field=f"skill_request.{'description' if what == 'description' else 'skill_type'}",
        )
    allowed = manifest.capabilities if request.capabilities is None else request.capabilities
    return edited(written, name=request.name, capabilities=tuple(allowed))


def text_of(state: State, request: SkillBuildRequest) -> SkillText:
    known = state.config
    return SkillText(
        name=request.name,
        description=request.description,
        kind=request.skill_type,
        trigger=known.trigger or "",
        steps=known.steps or "",
        capabilities=tuple(request.capabilities or ()),
    )


def manifest_of(skill: SkillFiles) -> Manifest:
    """Raises when its SKILL.md cannot be used."""
    found = read_skill_md(skill.files.get(SKILL_MD, ""), skill.name)
    if found.manifest is None:
        raise found.error
    return found.manifest
