"""Capabilities of a skill are granted one by one."""

import pytest
from tests.interview.walk import (
    advance_to,
    choose,
    model_says,
    say,
    started,
    topic,
    walk_to_end,
    written_from_template,
)

from forge.errors import Invalid
from forge.interview import engine
from forge.interview.domain.capability_grants import check_granted, granted_capabilities
from forge.interview.domain.config_builder import to_skill_request
from forge.interview.domain.dialogue import AskQuestion, Mode, Phase
from forge.interview.domain.state import Due, InterviewSpeaker, State
from forge.skills.models import Capability, SkillKind

DESCRIPTION = "convert csv files to json and send them to a web api"


def state_with_requests() -> State:
    """Return a written script whose first capability has to be confirmed."""
    state = choose(advance_to(started(DESCRIPTION, mode=Mode.SKILL), "capabilities"))
    assert state.due is Due.WRITE
    return engine.apply_written(state, written_from_template(state))


def state_with_refusal() -> State:
    return walk_to_end(choose(advance_to(state_with_requests(), "capability:http_post"), 1))


def test_request_without_capabilities_gets_the_granted_ones():
    state = state_with_refusal()
    request = to_skill_request(state).model_copy(update={"capabilities": None})
    assert check_granted(state, request).capabilities == [Capability.READ_FILE, Capability.HTTP_GET]


@pytest.mark.parametrize("capability", [Capability.HTTP_POST, Capability.EXEC_COMMAND])
def test_capability_that_was_not_granted_is_rejected(capability: Capability):
    state = state_with_refusal()
    request = to_skill_request(state).model_copy(update={"capabilities": [capability]})
    with pytest.raises(Invalid, match=f"Capability {capability.value} was not granted"):
        check_granted(state, request)


def test_nothing_is_granted_before_the_questions():
    state = state_with_requests()
    request = to_skill_request(state)
    assert granted_capabilities(state) == []
    assert check_granted(state, request.model_copy(update={"capabilities": None})).capabilities == []
    with pytest.raises(Invalid):
        check_granted(state, request)


def test_capabilities_added_after_the_review_are_confirmed():
    state = say(state_with_refusal().replace(speaker=InterviewSpeaker.MODEL), "and it should run commands")
    state = model_says(state, action="ready", patch={"capabilities": ["http_post", "exec_command"]})
    assert topic(state) == "capability:http_post"
    state = choose(state, 1)
    assert topic(state) == "capability:exec_command"
    state = choose(state)
    assert topic(state) == "ready"
    assert to_skill_request(state).capabilities == [Capability.EXEC_COMMAND]


def written_for(state: State, hosts: str) -> State:
    """Write the same skill with these hosts in its manifest."""
    written = written_from_template(state)
    assert written.skill is not None
    name = written.skill.name
    head = f"---\nname: {name}\ndescription: Sends.\nmetadata:\n  forge-kind: script\n  forge-hosts: {hosts}\n---\n"
    skill = written.skill.model_copy(update={"files": {"SKILL.md": head}})
    return engine.apply_written(state, written.model_copy(update={"skill": skill}))


def test_grant_for_one_host_does_not_cover_another():
    state = choose(advance_to(started(DESCRIPTION, mode=Mode.SKILL), "capabilities"))
    state = choose(written_for(state, "api.example.com"))
    current = state.asked
    assert current is not None and isinstance(current.turn, AskQuestion)
    assert current.turn.question == "It asks to fetch from the web (api.example.com). Allow this?"
    state = walk_to_end(choose(state))
    assert Capability.HTTP_GET in granted_capabilities(state)
    again = written_for(state, "evil.example.net")
    assert granted_capabilities(again) == [Capability.READ_FILE]
    assert again.asked is not None and "evil.example.net" in str(again.asked.turn)


def test_going_back_in_a_written_skill_keeps_later_answers():
    before = walk_to_end(state_with_requests())
    state = say(engine.go_back(before, Phase.BASICS), "csv-to-json")
    state = walk_to_end(state)
    old, new = to_skill_request(before), to_skill_request(state)
    assert (new.name, new.skill_type) == ("csv-to-json", SkillKind.SCRIPT)
    assert new.model_copy(update={"name": old.name}) == old
    assert (state.config.steps, state.config.trigger) == (before.config.steps, before.config.trigger)
