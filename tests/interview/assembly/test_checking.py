"""Settings are checked where they are used, whoever sent them."""

from typing import Any

import pytest
from tests.bots.workshop import DEFAULT, ME
from tests.interview.assembly.workbench import Workbench, interview, settings

from forge.errors import ForgeError
from forge.interview.phases import Mode
from forge.interview.state import Basis


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "✨"}, "A name needs a letter or a digit."),
        ({"category": "nonsense"}, "There is no category 'nonsense'."),
        ({"model_config__model": "nobody:x"}, "There is no provider called 'nobody'"),
        ({"model_config__model": "anthropic:claude-x-9"}, "Nobody knows what anthropic:claude-x-9 costs."),
        ({"model_config__temperature": 1.5}, f"too much for anthropic:{DEFAULT}: it takes 1 at most"),
        ({"model_config__max_tokens": 200_000}, "do not fit into"),
        ({"skills": [{"name": "no-such-skill"}]}, "There is no skill called no-such-skill."),
        (
            {"skills": [{"name": "new-tool", "description": "Does it.", "skill_type": "script"}]},
            "has to be made and tried by itself",
        ),
        ({"variants": [{"name": "Ada"}, {"name": "ADA"}]}, "have the same name"),
    ],
)
async def test_what_cannot_become_a_bot_is_refused_with_a_reason(
    bench: Workbench, changes: dict[str, Any], message: str
):
    with pytest.raises(ForgeError) as caught:
        await bench.assembly.check(ME, settings(**changes), interview(Mode.BATCH))
    assert message in caught.value.message


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "A", "x" * 65, ""])
def test_a_skill_cannot_be_named_like_a_path(name: str):
    with pytest.raises(ValueError, match="skills"):
        settings(skills=[{"name": name, "description": "Escapes."}])


async def test_a_skill_that_is_named_twice_is_had_once(bench: Workbench):
    config = await bench.assembly.check(
        ME, settings(skills=[{"name": "summarize"}, {"name": "summarize"}]), interview()
    )
    assert [request.name for request in config.skills] == ["summarize"]


async def test_a_warm_model_of_another_provider_is_fine(bench: Workbench):
    config = settings(model_config__model="openai:gpt-4o", model_config__temperature=1.5)
    assert await bench.assembly.check(ME, config, interview()) == config


async def test_only_a_batch_makes_several_and_only_interviews_about_bots_make_any(bench: Workbench):
    several = settings(variants=[{"name": "One"}, {"name": "Two"}])
    for state, config in ((interview(), several), (interview(Mode.SKILL), settings())):
        with pytest.raises(ForgeError):
            await bench.assembly.check(ME, config, state)


async def test_a_skill_that_a_bot_had_before_may_stay_even_if_the_library_lost_it(bench: Workbench):
    had = settings(skills=[{"name": "lost-one"}])
    state = interview(
        Mode.RECONFIGURE, basis=Basis.model_validate({"fields": {"skills": [{"name": "lost-one"}]}})
    )
    assert await bench.assembly.check(ME, had, state) == had
