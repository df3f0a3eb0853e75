from itertools import pairwise

import pytest
from tests.interview.guide.offers import DESCRIPTIONS, FACTS, KEYLESS, OPUS
from tests.interview.walking import (
    choose,
    hear,
    new_state,
    on_to,
    one_on,
    question_of,
    say,
    started,
    to_the_end,
    topic,
)

from forge.interview import engine
from forge.interview.categories import Custom, Known, defaults_for
from forge.interview.completing import to_config
from forge.interview.config import DEFAULT_MODEL, Fields
from forge.interview.guide import next_question
from forge.interview.phases import Phase, is_before
from forge.interview.state import Basis, Facts, Speaker, State
from forge.interview.turns import AskQuestion, Clarify


def topics(state: State) -> list[str]:
    return [exchange.asked.topic for exchange in state.exchanges]


def walked(description: str, **more: object) -> State:
    return to_the_end(started(description, **{"facts": FACTS, **more}))


@pytest.mark.parametrize("kind", list(Known))
def test_every_kind_of_bot_gets_as_many_questions_as_it_deserves(kind: Known):
    state = walked(DESCRIPTIONS[kind])
    assert state.purpose is kind
    budget = defaults_for(kind).budget
    assert budget.fewest <= state.question_count <= budget.most


def test_a_utility_is_asked_little_and_an_analyst_much():
    assert topics(walked(DESCRIPTIONS[Known.SIMPLE_UTILITY])) == ["name", "tone", "model", "skills"]
    assert topics(walked(DESCRIPTIONS[Known.COMPLEX_ANALYST])) == [
        *("name", "audience", "tone", "traits", "boundaries", "model", "creativity", "length", "skills"),
    ]


@pytest.mark.parametrize("description", DESCRIPTIONS.values())
def test_phases_only_go_forward(description: str):
    phases = [exchange.asked.turn.phase for exchange in walked(description).exchanges]
    assert not any(is_before(after, before) for before, after in pairwise(phases))


@pytest.mark.parametrize("description", DESCRIPTIONS.values())
def test_every_option_says_why_and_no_two_are_the_same(description: str):
    for exchange in walked(description).exchanges:
        turn = exchange.asked.turn
        assert isinstance(turn, AskQuestion)
        assert all(option.reason.strip() for option in turn.options)
        assert len({option.id for option in turn.options}) == len(turn.options)
        assert len({option.label for option in turn.options}) == len(turn.options)
        assert len(exchange.asked.patches) == len(turn.options)


@pytest.mark.parametrize("description", ["", "hi", "a bot", "hello, please make me a bot!", "👋", "..."])
def test_a_description_that_says_nothing_is_asked_for_again(description: str):
    state = started(description, facts=FACTS)
    assert state.asked is not None
    assert isinstance(state.asked.turn, Clarify)
    assert (state.asked.topic, state.asked.free) == ("purpose", "purpose")
    state = say(state, "Answer support emails of our customers")
    assert topic(state) == "name"
    assert to_config(state).category == "assistant"
    assert to_config(state).description == "Answer support emails of our customers"


def test_saying_nothing_twice_is_no_answer():
    state = say(started("hi"), "a bot")
    assert state.exchanges == []
    assert state.asked is not None and isinstance(state.asked.turn, Clarify)
    assert "more" in state.asked.turn.message


def test_the_kind_is_asked_only_where_the_words_do_not_say_it():
    state = started(DESCRIPTIONS[None], facts=FACTS)
    assert topic(state) == "category"
    chosen = [option.id for option in question_of(state).options]
    assert chosen[0] == "custom"
    assert set(chosen[1:]) == set(Known) - {Known.COMPLEX_ANALYST}
    state = choose(state, chosen.index(Known.CREATIVE))
    assert state.purpose is Known.CREATIVE
    assert to_config(state).category == "creative"


def test_something_of_its_own_stays_so():
    state = choose(started(DESCRIPTIONS[None], facts=FACTS))
    assert state.purpose == Custom(custom=DESCRIPTIONS[None])
    config = to_config(to_the_end(state))
    assert (config.category, config.personality.tone) == ("assistant", "adaptive")


def test_the_kind_can_be_told_in_words():
    state = say(started(DESCRIPTIONS[None], facts=FACTS), "It writes invitations as poems")
    assert topic(state) == "name"
    config = to_config(state)
    assert (config.category, config.personality.tone) == ("creative", "expressive")
    assert (
        config.personality.purpose == "A party planner for the garden club. It writes invitations as poems."
    )


def test_names_come_from_the_description_and_are_not_taken():
    state = on_to(started(DESCRIPTIONS[None], facts=FACTS), "name")
    labels = [option.label for option in question_of(state).options]
    assert "Party Planner" not in labels
    assert any("Party" in label for label in labels)
    assert 3 <= len(labels) <= 4


def test_a_name_that_was_given_in_passing_is_not_asked_for():
    state = walked("A helper called Jarvis that reminds me of birthdays")
    assert "name" not in topics(state)
    assert to_config(state).name == "Jarvis"


def test_what_is_known_is_not_asked():
    fields = Fields(name="Nora", tone="dry", traits=["sharp"], model=OPUS.ref, skills=[])
    state = walked(DESCRIPTIONS[Known.CODING], basis=Basis(fields=fields))
    assert set(topics(state)).isdisjoint({"name", "tone", "traits", "model", "skills"})
    assert state.question_count <= defaults_for(Known.CODING).budget.most


def test_where_much_is_known_other_things_are_worth_asking():
    fields = Fields(name="Nora", tone="dry")
    state = walked(DESCRIPTIONS[Known.CODING], basis=Basis(fields=fields))
    assert state.question_count >= defaults_for(Known.CODING).budget.fewest


def test_an_imported_soul_is_not_asked_about_who_it_is():
    basis = Basis(
        fields=Fields(name="Nora", purpose="Nora reviews code."), soul="---\nname: Nora\n---\n# Purpose\n"
    )
    state = walked("", basis=basis)
    assert set(topics(state)) == {"model", "creativity", "length", "skills"}


def test_the_tone_of_the_description_comes_first_and_is_the_reason():
    state = on_to(started("A funny bot that debugs code", facts=FACTS), "tone")
    first = question_of(state).options[0]
    assert first.id == "playful"
    assert "“funny”" in first.reason
    assert question_of(state).options[1].id == "technical"


def test_models_with_a_key_come_before_those_without():
    state = on_to(started(DESCRIPTIONS[Known.CODING], facts=FACTS), "model")
    ids = [option.id for option in question_of(state).options]
    assert ids[:4] == [DEFAULT_MODEL, OPUS.ref, "anthropic:claude-sonnet-5", KEYLESS.ref]
    assert "no key" in question_of(state).options[3].reason


def test_without_other_models_there_is_still_something_to_choose():
    state = on_to(started(DESCRIPTIONS[Known.CODING], facts=Facts()), "model")
    assert [option.id for option in question_of(state).options][:2] == [DEFAULT_MODEL, "default-long"]
    assert to_config(choose(state, 1)).model_settings.max_tokens == 8192


def test_no_skill_is_asked_about_where_there_is_none():
    assert "skills" not in topics(walked(DESCRIPTIONS[Known.CODING], facts=Facts()))


def test_all_suggested_skills_together_are_the_first_choice():
    state = choose(on_to(started(DESCRIPTIONS[Known.CODING], facts=FACTS), "skills"))
    assert [skill.name for skill in state.config.skills or []] == [skill.name for skill in FACTS.skills]


def test_whom_it_serves_becomes_part_of_its_purpose():
    state = say(
        on_to(started(DESCRIPTIONS[Known.RESEARCH], facts=FACTS), "audience"), "New doctoral students"
    )
    assert to_config(state).personality.purpose == (
        "Find papers and keep track of citations for my thesis. The people it works for: new doctoral students."
    )


def test_for_whom_it_is_does_not_make_it_another_kind():
    state = say(on_to(started(DESCRIPTIONS[Known.RESEARCH], facts=FACTS), "audience"), "customers")
    assert state.purpose is Known.RESEARCH
    assert to_config(state).category == "research"


def test_the_same_state_gives_the_same_turn():
    state = new_state(DESCRIPTIONS[Known.COMPLEX_ANALYST], facts=FACTS)
    first, second = next_question(state), next_question(State.model_validate_json(state.model_dump_json()))
    assert first is not None and second is not None
    assert first.model_dump_json() == second.model_dump_json()


def test_another_name_does_not_make_other_questions():
    state = started(DESCRIPTIONS[Known.COMPLEX_ANALYST], facts=FACTS)
    one, other = choose(state, 0), choose(state, 1)
    while topic(one) != "ready":
        assert one.asked == other.asked
        one, other = one_on(one), one_on(other)


def test_the_model_phase_comes_after_the_personality():
    state = on_to(started(DESCRIPTIONS[Known.CREATIVE], facts=FACTS), "creativity")
    assert question_of(state).phase is Phase.MODEL
    assert question_of(state).options[0].id == "inventive"
    assert to_config(choose(state)).model_settings.temperature == 0.9


def test_what_a_model_asked_before_it_fell_silent_is_not_asked_again():
    state = started(DESCRIPTIONS[Known.CREATIVE], facts=FACTS, speaker=Speaker.MODEL)
    options = [
        {"label": "Dry", "reason": "You like it.", "value": "dry"},
        {"label": "Wild", "reason": "Why not."},
    ]
    asking = {
        "action": "ask_question",
        "phase": "personality",
        "question": "Which voice?",
        "options": options,
    }
    state = choose(hear(state, field="tone", **asking))
    state = to_the_end(engine.give_up(state, "The model does not answer."))
    assert "tone" not in topics(state)
    assert state.config.tone == "dry"
