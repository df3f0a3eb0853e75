"""What a bot is now, in the words of an interview: read from its files, so that questions begin where it stands."""

from forge.bots.files.soul import parse_soul
from forge.bots.models import Identity, SkillEntry, Soul
from forge.bots.problems import errors_of, refusal
from forge.bots.versions.whole import BotFiles
from forge.errors import Internal
from forge.interview.assembly.sections import read_section
from forge.interview.config import DEFAULT_MODEL, MAX_PASSAGE, MAX_SKILLS, Fields, SkillRequest
from forge.interview.speaking.phrases import HONESTY, UNCLEAR

_ADDED = {UNCLEAR, *(f"- {rule}" for rule in HONESTY)}


def current_fields(files: BotFiles) -> Fields:
    fields = _of_identity(files.identity).merged(_of_soul(files.soul))
    name = Fields(name=files.identity.display_name)
    return fields.merged(name).merged(Fields(skills=_skills(files.skills)))


def soul_fields(text: str) -> Fields:
    """What a SOUL.md says; raises when it cannot be used."""
    found = parse_soul(text)
    if errors := errors_of(found.problems):
        raise refusal(errors)
    if found.value is None:
        raise Internal("A soul without a mistake could not be read.")
    return _of_soul(found.value)


def _of_identity(identity: Identity) -> Fields:
    return Fields(
        description=identity.description,
        category=identity.category.value,
        tags=identity.tags,
        model=identity.ref or DEFAULT_MODEL,
        temperature=identity.temperature,
        max_tokens=identity.max_tokens,
    )


def _of_soul(soul: Soul) -> Fields:
    return Fields(
        name=soul.name,
        tone=soul.tone or None,
        traits=soul.traits,
        purpose=_passage(soul.body, "Purpose"),
        boundaries=_passage(soul.body, "Boundaries"),
    )


def _passage(body: str, title: str) -> str | None:
    """What was said for it, without what Forge adds to every soul."""
    lines = (read_section(body, title) or "").splitlines()
    own = "\n".join(line for line in lines if line.strip() not in _ADDED).strip()
    return own[:MAX_PASSAGE] or None


def _skills(entries: list[SkillEntry]) -> list[SkillRequest]:
    return [SkillRequest(name=entry.skill_name) for entry in entries[:MAX_SKILLS]]
