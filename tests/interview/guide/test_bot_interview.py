from itertools import pairwise

import pytest
from tests.interview.guide.facts import DESCRIPTIONS, FACTS, KEYLESS, OPUS, USUAL
from tests.interview.walk import (
    advance,
    advance_to,
    choose,
    model_says,
    new_state,
    question_of,
    say,
    started,
    topic,
    walk_to_end,
)

from forge.interview import engine
from forge.interview.domain.build_config import DEFAULT_MODEL, MAX_VARIANTS, Fields
from forge.interview.domain.categories import CustomPurpose, KnownPurpose, classify, defaults_for
from forge.interview.domain.config_builder import missing_settings, to_config
from forge.interview.domain.dialogue import (
    AskQuestion,
    Chosen,
    Clarify,
    Mode,
    Phase,
    ReadyToAssemble,
    is_before,
)
from forge.interview.domain.names import suggest_names
from forge.interview.domain.state import Basis, Facts, InterviewSpeaker, State
from forge.interview.engine import next_question


def topics(state: State) -> list[str]:
    return [exchange.asked.topic for exchange in state.exchanges]


def complete(description: str, **more: object) -> State:
    return walk_to_end(started(description, **{"facts": FACTS, **more}))


@pytest.mark.parametrize("kind", list(KnownPurpose))
def test_question_count_depends_on_the_purpose(kind: KnownPurpose):
    state = complete(DESCRIPTIONS[kind])
    assert state.purpose is kind
    budget = defaults_for(kind).budget
    assert budget.minimum <= state.question_count <= budget.maximum


def test_names_in_use_are_not_offered():
    description, taken = "Plans parties", list[str]()
    for _ in range(5):
        taken += suggest_names(description, classify(description), taken)
    taken += [f"{name} II" for name in suggest_names(description, classify(description), taken)]
    state = advance_to(started(description, facts=Facts(bot_names=taken)), "name")
    labels = [option.label for option in question_of(state).options]
    assert len(labels) == 2 and not {label.casefold() for label in labels} & {one.casefold() for one in taken}


def test_topics_of_a_utility_and_an_analyst():
    assert topics(complete(DESCRIPTIONS[KnownPurpose.SIMPLE_UTILITY])) == ["name", "tone", "model", "skills"]
    assert topics(complete(DESCRIPTIONS[KnownPurpose.COMPLEX_ANALYST])) == [
        *("name", "audience", "tone", "traits", "boundaries", "model", "creativity", "length", "skills"),
    ]


@pytest.mark.parametrize("description", DESCRIPTIONS.values())
def test_phases_only_go_forward(description: str):
    phases = [exchange.asked.turn.phase for exchange in complete(description).exchanges]
    assert not any(is_before(after, before) for before, after in pairwise(phases))


@pytest.mark.parametrize("description", DESCRIPTIONS.values())
def test_options_have_reasons_and_are_distinct(description: str):
    for exchange in complete(description).exchanges:
        turn = exchange.asked.turn
        assert isinstance(turn, AskQuestion)
        assert all(option.reason.strip() for option in turn.options)
        assert len({option.id for option in turn.options}) == len(turn.options)
        assert len({option.label for option in turn.options}) == len(turn.options)
        assert len(exchange.asked.patches) == len(turn.options)


@pytest.mark.parametrize("description", ["", "hi", "a bot", "hello, please make me a bot!", "👋", "..."])
def test_empty_description_is_asked_for(description: str):
    state = started(description, facts=FACTS)
    assert state.asked is not None
    assert isinstance(state.asked.turn, Clarify)
    assert (state.asked.topic, state.asked.free) == ("purpose", "purpose")
    state = say(state, "Answer support emails of our customers")
    assert topic(state) == "name"
    assert to_config(state).category == "assistant"
    assert to_config(state).description == "Answer support emails of our customers"


def test_meaningless_answer_is_rejected_twice():
    state = say(started("hi"), "a bot")
    assert state.exchanges == []
    assert state.asked is not None and isinstance(state.asked.turn, Clarify)
    assert "more" in state.asked.turn.message


def test_category_is_asked_only_for_unknown_purposes():
    state = started(DESCRIPTIONS[None], facts=FACTS)
    assert topic(state) == "category"
    chosen = [option.id for option in question_of(state).options]
    assert chosen[0] == "custom"
    assert set(chosen[1:]) == set(KnownPurpose) - {KnownPurpose.COMPLEX_ANALYST}
    state = choose(state, chosen.index(KnownPurpose.CREATIVE))
    assert state.purpose is KnownPurpose.CREATIVE
    assert to_config(state).category == "creative"


def test_custom_purpose_is_kept():
    state = choose(started(DESCRIPTIONS[None], facts=FACTS))
    assert state.purpose == CustomPurpose(custom=DESCRIPTIONS[None])
    config = to_config(walk_to_end(state))
    assert (config.category, config.personality.tone) == ("assistant", "adaptive")


def test_category_can_be_answered_in_words():
    state = say(started(DESCRIPTIONS[None], facts=FACTS), "It writes invitations as poems")
    assert topic(state) == "name"
    config = to_config(state)
    assert (config.category, config.personality.tone) == ("creative", "expressive")
    assert (
        config.personality.purpose == "A party planner for the garden club. It writes invitations as poems."
    )


def test_suggested_names_come_from_the_description():
    state = advance_to(started(DESCRIPTIONS[None], facts=FACTS), "name")
    labels = [option.label for option in question_of(state).options]
    assert "Party Planner" not in labels
    assert any("Party" in label for label in labels)
    assert 3 <= len(labels) <= 4


def test_name_in_the_description_is_not_asked_for():
    state = complete("A helper called Jarvis that reminds me of birthdays")
    assert "name" not in topics(state)
    assert to_config(state).name == "Jarvis"


def test_known_settings_are_not_asked_for():
    fields = Fields(name="Nora", tone="dry", traits=["sharp"], model=OPUS.ref, skills=[])
    state = complete(DESCRIPTIONS[KnownPurpose.CODING], basis=Basis(fields=fields))
    assert set(topics(state)).isdisjoint({"name", "tone", "traits", "model", "skills"})
    assert state.question_count <= defaults_for(KnownPurpose.CODING).budget.maximum


def test_other_questions_replace_known_settings():
    fields = Fields(name="Nora", tone="dry")
    state = complete(DESCRIPTIONS[KnownPurpose.CODING], basis=Basis(fields=fields))
    assert state.question_count >= defaults_for(KnownPurpose.CODING).budget.minimum


def test_imported_soul_skips_personality_questions():
    basis = Basis(
        fields=Fields(name="Nora", purpose="Nora reviews code."), soul="---\nname: Nora\n---\n# Purpose\n"
    )
    state = complete("", basis=basis)
    assert set(topics(state)) == {"model", "creativity", "length", "skills"}


def test_tone_in_the_description_is_offered_first():
    state = advance_to(started("A funny bot that debugs code", facts=FACTS), "tone")
    first = question_of(state).options[0]
    assert first.id == "playful"
    assert "“funny”" in first.reason
    assert question_of(state).options[1].id == "technical"


def test_models_with_a_key_are_offered_first():
    state = advance_to(started(DESCRIPTIONS[KnownPurpose.CODING], facts=FACTS), "model")
    ids = [option.id for option in question_of(state).options]
    assert ids[:4] == [DEFAULT_MODEL, OPUS.ref, "anthropic:claude-sonnet-5", KEYLESS.ref]
    assert "There is no key for openai" in question_of(state).options[3].reason


def test_default_model_without_a_key_is_not_offered_first():
    unusable = USUAL.model_copy(update={"has_key": False, "problem": "There is no key for anthropic."})
    facts = FACTS.model_copy(update={"models": [unusable, KEYLESS, OPUS]})
    options = question_of(
        advance_to(started(DESCRIPTIONS[KnownPurpose.CODING], facts=facts), "model")
    ).options
    assert [option.id for option in options[:3]] == [OPUS.ref, DEFAULT_MODEL, KEYLESS.ref]
    assert options[1].reason.endswith("It cannot be used yet: There is no key for anthropic.")


def test_single_model_still_gives_two_options():
    state = advance_to(started(DESCRIPTIONS[KnownPurpose.CODING], facts=Facts()), "model")
    assert [option.id for option in question_of(state).options][:2] == [DEFAULT_MODEL, "default-long"]
    assert to_config(choose(state, 1)).model_settings.max_tokens == 8192


def test_skills_are_not_asked_about_without_offers():
    assert "skills" not in topics(complete(DESCRIPTIONS[KnownPurpose.CODING], facts=Facts()))


def test_all_suggested_skills_are_the_first_option():
    state = choose(advance_to(started(DESCRIPTIONS[KnownPurpose.CODING], facts=FACTS), "skills"))
    assert [skill.name for skill in state.config.skills or []] == [skill.name for skill in FACTS.skills]


def test_audience_becomes_part_of_the_purpose():
    state = say(
        advance_to(started(DESCRIPTIONS[KnownPurpose.RESEARCH], facts=FACTS), "audience"),
        "New doctoral students",
    )
    assert to_config(state).personality.purpose == (
        "Find papers and keep track of citations for my thesis. The people it works for: new doctoral students."
    )


def test_audience_does_not_change_the_purpose_category():
    state = say(
        advance_to(started(DESCRIPTIONS[KnownPurpose.RESEARCH], facts=FACTS), "audience"), "customers"
    )
    assert state.purpose is KnownPurpose.RESEARCH
    assert to_config(state).category == "research"


def test_next_question_is_deterministic():
    state = new_state(DESCRIPTIONS[KnownPurpose.COMPLEX_ANALYST], facts=FACTS)
    first, second = next_question(state), next_question(State.model_validate_json(state.model_dump_json()))
    assert first is not None and second is not None
    assert first.model_dump_json() == second.model_dump_json()


def test_name_does_not_affect_later_questions():
    state = started(DESCRIPTIONS[KnownPurpose.COMPLEX_ANALYST], facts=FACTS)
    one, other = choose(state, 0), choose(state, 1)
    while topic(one) != "ready":
        assert one.asked == other.asked
        one, other = advance(one), advance(other)


def test_model_phase_follows_personality():
    state = advance_to(started(DESCRIPTIONS[KnownPurpose.CREATIVE], facts=FACTS), "creativity")
    assert question_of(state).phase is Phase.MODEL
    assert question_of(state).options[0].id == "inventive"
    assert to_config(choose(state)).model_settings.temperature == 0.9


def test_guide_does_not_repeat_questions_of_the_model():
    state = started(DESCRIPTIONS[KnownPurpose.CREATIVE], facts=FACTS, speaker=InterviewSpeaker.MODEL)
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
    state = choose(model_says(state, field="tone", **asking))
    state = walk_to_end(engine.fall_back_to_guide(state, "The model does not answer."))
    assert "tone" not in topics(state)
    assert state.config.tone == "dry"


SUPPORT = DESCRIPTIONS[KnownPurpose.CUSTOMER_SERVICE]


def batch(variants: int = 3) -> State:
    return started(SUPPORT, mode=Mode.BATCH, basis=Basis(variants=variants), facts=FACTS)


def test_batch_asks_for_shared_name_and_each_difference():
    state = batch()
    assert "share" in question_of(state).question
    state = walk_to_end(state)
    assert [one.asked.topic for one in state.exchanges] == [
        *("name", "audience", "tone", "boundaries", "variant:1", "variant:2", "variant:3", "model", "skills"),
    ]
    config = to_config(state)
    assert [one.name for one in config.variants] == [
        f"{config.name} Classic",
        f"{config.name} Brief",
        f"{config.name} In Depth",
    ]


def test_difference_in_words_is_kept():
    state = say(advance_to(batch(), "variant:1"), "Speaks only of bicycles, and never of cars")
    state = say(state, "for children")
    assert [(one.name, one.difference) for one in state.config.variants or []] == [
        ("Support Email Responder 1", "Speaks only of bicycles, and never of cars."),
        ("Support Email Responder Children", "For children."),
    ]


def test_variation_is_offered_only_once():
    state = choose(advance_to(batch(), "variant:1"), 1)
    assert "brief" not in [option.id for option in question_of(state).options]


def test_variant_names_are_distinct():
    state = advance_to(batch(), "variant:1")
    for _ in range(3):
        state = say(state, "for children")
    names = [one.name for one in state.config.variants or []]
    assert len(set(names)) == 3


def test_largest_batch_always_has_options():
    state = walk_to_end(batch(MAX_VARIANTS))
    assert len({one.name for one in to_config(state).variants}) == MAX_VARIANTS


def test_skipping_fills_up_the_variants():
    state = choose(advance_to(batch(), "variant:1"), 3)
    turn = question_of(state)
    state = choose(state, [option.id for option in turn.options].index("skip"))
    assert topic(state) == "ready"
    assert state.asked is not None and isinstance(state.asked.turn, ReadyToAssemble)
    assert [
        one.name.removeprefix("Support Email Responder ") for one in state.asked.turn.config.variants
    ] == [
        *("for Beginners", "Classic", "Brief"),
    ]


def test_missing_settings_count_the_variants():
    state = advance_to(batch(), "variant:2")
    assert "what makes 2 variants different" in missing_settings(state)
    assert "what makes one variant different" in missing_settings(advance(state))


def test_variants_are_asked_in_the_personality_phase():
    state = advance_to(batch(), "variant:1")
    assert question_of(state).phase is Phase.PERSONALITY
    assert isinstance(choose(state).exchanges[-1].answer, Chosen)
