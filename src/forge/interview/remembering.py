"""What a finished interview leaves for the next one of its kind."""

from forge.interview.categories import purpose_key
from forge.interview.config import BuilderConfig
from forge.interview.models import MemoryEntry
from forge.interview.state import Made, State
from forge.kernel.ids import new_id


def entry_of(state: State, made: Made) -> MemoryEntry:
    """What was made in the end, which somebody may have changed after the last answer."""
    config = BuilderConfig.model_validate_json(made.config) if made.bots else None
    skills = [request.name for request in config.skills] if config else []
    return MemoryEntry(
        id=new_id(),
        purpose_category=purpose_key(state.purpose),
        initial_description=state.description,
        chosen_tone=config.personality.tone if config else None,
        chosen_model=config.model_settings.model if config else None,
        chosen_skills=[made.skill.name] if made.skill else skills,
        bot_slug=made.bots[0].bot_slug if made.bots else None,
        created_at=made.at,
    )
