"""What a skill may do: only what somebody said yes to, by itself."""

import pytest
from tests.interview.walking import choose, hear, on_to, say, started, to_the_end, topic, written_plainly

from forge.errors import Invalid
from forge.interview import engine
from forge.interview.completing import to_skill_request
from forge.interview.granting import as_granted, granted_capabilities
from forge.interview.phases import Mode, Phase
from forge.interview.state import Due, Speaker, State
from forge.interview.turns import AskQuestion
from forge.skills.models import Capability, SkillKind

DESCRIPTION = "convert csv files to json and send them to a web api"


def asked_for_all() -> State:
    """A script that is written, with the first of its capabilities to be confirmed."""
    state = choose(on_to(started(DESCRIPTION, mode=Mode.SKILL), "capabilities"))
    assert state.due is Due.WRITE
    return engine.wrote(state, written_plainly(state))


def one_refused() -> State:
    return to_the_end(choose(on_to(asked_for_all(), "capability:http_post"), 1))


def test_a_request_that_names_nothing_gets_what_was_allowed():
    state = one_refused()
    request = to_skill_request(state).model_copy(update={"capabilities": None})
    assert as_granted(state, request).capabilities == [Capability.READ_FILE, Capability.HTTP_GET]


@pytest.mark.parametrize("capability", [Capability.HTTP_POST, Capability.EXEC_COMMAND])
def test_what_was_refused_or_never_asked_cannot_be_requested(capability: Capability):
    state = one_refused()
    request = to_skill_request(state).model_copy(update={"capabilities": [capability]})
    with pytest.raises(Invalid, match=f"Nobody has allowed this skill {capability.value}"):
        as_granted(state, request)


def test_before_the_questions_nothing_is_allowed():
    state = asked_for_all()
    request = to_skill_request(state)
    assert granted_capabilities(state) == []
    assert as_granted(state, request.model_copy(update={"capabilities": None})).capabilities == []
    with pytest.raises(Invalid):
        as_granted(state, request)


def test_what_a_model_adds_after_the_review_is_asked_for_like_all_else():
    state = say(one_refused().but(speaker=Speaker.MODEL), "and it should run commands")
    state = hear(state, action="ready", patch={"capabilities": ["http_post", "exec_command"]})
    assert topic(state) == "capability:http_post"
    state = choose(state, 1)
    assert topic(state) == "capability:exec_command"
    state = choose(state)
    assert topic(state) == "ready"
    assert to_skill_request(state).capabilities == [Capability.EXEC_COMMAND]


def written_for(state: State, hosts: str) -> State:
    """The same skill, with these hosts in its manifest."""
    written = written_plainly(state)
    assert written.skill is not None
    name = written.skill.name
    head = f"---\nname: {name}\ndescription: Sends.\nmetadata:\n  forge-kind: script\n  forge-hosts: {hosts}\n---\n"
    skill = written.skill.model_copy(update={"files": {"SKILL.md": head}})
    return engine.wrote(state, written.model_copy(update={"skill": skill}))


def test_a_yes_to_one_host_is_no_yes_to_another():
    state = choose(on_to(started(DESCRIPTION, mode=Mode.SKILL), "capabilities"))
    state = choose(written_for(state, "api.example.com"))
    asked = state.asked
    assert asked is not None and isinstance(asked.turn, AskQuestion)
    assert asked.turn.question == "It asks to fetch from the web (api.example.com). Is that all right?"
    state = to_the_end(choose(state))
    assert Capability.HTTP_GET in granted_capabilities(state)
    again = written_for(state, "evil.example.net")
    assert granted_capabilities(again) == [Capability.READ_FILE]
    assert again.asked is not None and "evil.example.net" in str(again.asked.turn)


def test_going_back_keeps_the_later_answers_of_a_skill_that_was_written():
    before = to_the_end(asked_for_all())
    state = say(engine.go_back(before, Phase.BASICS), "csv-to-json")
    state = to_the_end(state)
    old, new = to_skill_request(before), to_skill_request(state)
    assert (new.name, new.skill_type) == ("csv-to-json", SkillKind.SCRIPT)
    assert new.model_copy(update={"name": old.name}) == old
    assert (state.config.steps, state.config.trigger) == (before.config.steps, before.config.trigger)
