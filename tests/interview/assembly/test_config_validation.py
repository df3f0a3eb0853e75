"""Validation of bot configs."""

from typing import Any

import pytest
from tests.bots.environment import DEFAULT, ME
from tests.interview.assembly.workbench import Workbench, interview, settings

from forge.errors import ForgeError
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "✨"}, "A name must contain a letter or a digit."),
        ({"category": "nonsense"}, "Unknown category 'nonsense'."),
        ({"model_config__model": "unknown:x"}, "There is no provider named 'unknown'"),
        ({"model_config__model": "anthropic:claude-x-9"}, "There is no price for anthropic:claude-x-9."),
        ({"model_config__temperature": 1.5}, f"too high for anthropic:{DEFAULT}, which accepts at most 1"),
        ({"model_config__max_tokens": 200_000}, "do not fit the context window"),
        ({"skills": [{"name": "no-such-skill"}]}, "Skill no-such-skill does not exist."),
        (
            {"skills": [{"name": "new-tool", "description": "Does it.", "skill_type": "script"}]},
            "has to be created and tested on its own",
        ),
        ({"variants": [{"name": "Ada"}, {"name": "ADA"}]}, "have the same name"),
    ],
)
async def test_invalid_settings_are_rejected_with_a_reason(
    workbench: Workbench, changes: dict[str, Any], message: str
):
    with pytest.raises(ForgeError) as caught:
        await workbench.assembly.check(ME, settings(**changes), interview(Mode.BATCH))
    assert message in caught.value.message


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "A", "x" * 65, ""])
def test_path_as_skill_name_is_rejected(name: str):
    with pytest.raises(ValueError, match="skills"):
        settings(skills=[{"name": name, "description": "Escapes."}])


async def test_duplicate_skills_are_merged(workbench: Workbench):
    config = await workbench.assembly.check(
        ME, settings(skills=[{"name": "summarize"}, {"name": "summarize"}]), interview()
    )
    assert [request.name for request in config.skills] == ["summarize"]


async def test_high_temperature_is_allowed_for_other_providers(workbench: Workbench):
    config = settings(model_config__model="openai:gpt-4o", model_config__temperature=1.5)
    assert await workbench.assembly.check(ME, config, interview()) == config


async def test_variants_and_skills_require_the_right_mode(workbench: Workbench):
    several = settings(variants=[{"name": "One"}, {"name": "Two"}])
    for state, config in ((interview(), several), (interview(Mode.SKILL), settings())):
        with pytest.raises(ForgeError):
            await workbench.assembly.check(ME, config, state)


async def test_existing_skill_missing_in_the_library_is_accepted(workbench: Workbench):
    config = settings(skills=[{"name": "lost-one"}])
    state = interview(
        Mode.RECONFIGURE, basis=Basis.model_validate({"fields": {"skills": [{"name": "lost-one"}]}})
    )
    assert await workbench.assembly.check(ME, config, state) == config
