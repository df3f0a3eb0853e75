"""What has to be written before anything can be made, and for which settings it was."""

import json
from typing import Any

from forge.interview.completing import to_config, to_skill_request
from forge.interview.config import NOTHING, BuilderConfig, SkillBuildRequest
from forge.interview.phases import Mode
from forge.interview.state import Speaker, State
from forge.kernel.hashing import hash_text


def settings_of(state: State) -> BuilderConfig:
    """As somebody changed them in the review, or as they were agreed on."""
    return state.edited or to_config(state)


def settings_before(state: State) -> BuilderConfig:
    """Of a bot that is changed, as it was when the interview began."""
    return to_config(state.but(exchanges=[], opening=NOTHING, edited=None))


def soul_hash(config: BuilderConfig) -> str:
    """Of all that a soul speaks of."""
    personality = config.personality.model_dump(mode="json")
    return _hash([config.name, config.description, personality])


def skill_hash(state: State, request: SkillBuildRequest) -> str:
    """Of all that a skill's files speak of, but not of what it may do: that is confirmed when they are written."""
    known = state.config
    return _hash([request.name, request.description, request.skill_type.value, known.trigger, known.steps])


def is_written(state: State) -> bool:
    if state.mode is Mode.SKILL:
        wanted = skill_hash(state, to_skill_request(state))
        return state.written is not None and state.written.of == wanted
    if state.speaker is Speaker.GUIDE or state.basis.soul is not None or _is_still_itself(state):
        return True
    return state.written is not None and state.written.of == soul_hash(settings_of(state))


def _is_still_itself(state: State) -> bool:
    """A bot that is changed, but not in who it is."""
    if state.mode is not Mode.RECONFIGURE:
        return False
    return soul_hash(settings_before(state)) == soul_hash(settings_of(state))


def _hash(parts: list[Any]) -> str:
    return hash_text(json.dumps(parts, ensure_ascii=False, sort_keys=True))
