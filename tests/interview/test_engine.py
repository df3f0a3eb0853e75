import pytest
from tests.interview.walk import (
    AT,
    MODEL,
    advance_to,
    choose,
    model_says,
    question_of,
    say,
    started,
    take,
    topic,
    walk_to_end,
    written_from_template,
)

from forge.errors import Conflict
from forge.interview import engine
from forge.interview.domain.dialogue import (
    Chosen,
    Clarify,
    Confirmed,
    Mode,
    Phase,
    ReadyToAssemble,
    ReadyToCreateSkill,
    Said,
    WentBack,
)
from forge.interview.domain.state import Basis, Due, InterviewSpeaker, Made, question_budget
from forge.interview.errors import BadAnswer

QUESTION = {
    "action": "ask_question",
    "phase": "personality",
    "field": "tone",
    "question": "How should it sound?",
    "options": [
        {"label": "Plain", "reason": "Users skim.", "value": "plain"},
        {"label": "Proud", "reason": "It is your work.", "value": "proud"},
    ],
}


def test_answer_is_stored_in_words():
    state = advance_to(started(), "tone")
    label = question_of(state).options[1].label
    state = choose(state, 1)
    assert state.exchanges[-1].label == label
    assert state.config.tone


def test_invalid_option_index_is_rejected():
    state = started()
    with pytest.raises(BadAnswer, match="no option 17"):
        choose(state, 17)


def test_confirmation_is_rejected_for_a_question():
    with pytest.raises(BadAnswer, match="Choose one"):
        take(started(), Confirmed(yes=True))


def test_text_of_an_option_chooses_it():
    state = advance_to(started(), "tone")
    option = question_of(state).options[2]
    assert say(state, f"  {option.label.upper()} ").exchanges[-1].answer == Chosen(index=2)


def test_taken_name_among_the_options_is_not_accepted():
    """Facts are read once; the skill was created after the options were made."""
    state = advance_to(started("Count the words of a text", mode=Mode.SKILL), "name")
    options = question_of(state).options
    taken = state.facts.model_copy(update={"skill_names": [options[0].label]})
    again = choose(state.replace(facts=taken))
    assert "already exists" in question_of(again).question
    assert (topic(again), again.config.name) == ("name", None)
    assert choose(again, 1).config.name == options[1].label


def test_unclear_text_repeats_the_question():
    state = advance_to(started(), "model")
    plain = question_of(state)
    again = say(say(state, "the one from the moon"), "or from mars")
    assert question_of(again).options == plain.options
    assert question_of(again).question.endswith(plain.question)
    assert question_of(again).question.count(plain.question) == 1
    assert choose(again).exchanges[-1].asked.turn == plain


def test_back_is_rejected_at_the_first_question():
    with pytest.raises(BadAnswer, match="first question"):
        take(started(), WentBack())


def test_back_repeats_the_question_and_drops_the_answer():
    before = advance_to(started(), "tone")
    after = take(choose(before), WentBack())
    assert after.asked == before.asked
    assert after.config == before.config
    assert after.question_count == before.question_count


def test_repeating_the_answer_restores_later_ones():
    state = advance_to(started(), "model")
    back = take(state, WentBack(phase=Phase.BASICS))
    assert back.exchanges == []
    again = choose(back)
    assert again.asked == state.asked
    assert again.exchanges == state.exchanges
    assert again.set_aside == []


def test_changed_name_keeps_the_tone():
    state = advance_to(started(), "model")
    tone = state.config.tone
    changed = say(advance_to(take(state, WentBack(phase=Phase.BASICS)), "name"), "Heron")
    assert changed.config.name == "Heron"
    assert changed.config.tone == tone
    assert changed.phase is Phase.MODEL


def test_changed_purpose_repeats_dependent_questions():
    state = started("Something for my garden")
    assert topic(state) == "category"
    state = advance_to(state, "tone")
    first = question_of(state)
    back = take(choose(state), WentBack(phase=Phase.BASICS))
    ids = [option.id for option in question_of(back).options]
    changed = advance_to(choose(back, ids.index("creative")), "tone")
    assert question_of(changed) != first
    assert changed.purpose == "creative"


def test_back_to_an_unasked_phase_is_rejected():
    with pytest.raises(BadAnswer, match="Phase skills has no answered question"):
        take(choose(started()), WentBack(phase=Phase.SKILLS))


def test_every_purpose_stays_within_its_budget():
    for description in (
        "remind me of birthdays",
        "analyze our metrics",
        "write poems",
        "debug code",
        "research papers",
    ):
        state = walk_to_end(started(description))
        assert isinstance(state.asked and state.asked.turn, ReadyToAssemble)
        assert state.question_count <= question_budget(state).maximum


def test_skip_finishes_from_the_fifth_question():
    state = started("analyze our sales data and write a report")
    while state.question_count < 4:
        assert "skip" not in [option.id for option in question_of(state).options]
        state = choose(state)
    skip = [option.id for option in question_of(state).options].index("skip")
    assert isinstance((choose(state, skip).asked or state.asked).turn, ReadyToAssemble)  # pyright: ignore[reportOptionalMemberAccess]


def test_ready_turn_yes_creates_nothing_and_no_goes_back():
    ready = walk_to_end(started())
    assert take(ready, Confirmed(yes=True)) == ready
    assert take(ready, Confirmed(yes=False)).exchanges == ready.exchanges[:-1]


def test_ready_turn_text_asks_what_to_revise():
    ready = walk_to_end(started())
    asked = say(ready, "it should be kinder")
    labels = [option.id for option in question_of(asked).options]
    chosen = choose(asked, labels.index("personality"))
    assert chosen.phase is Phase.PERSONALITY


def test_model_setup_is_confirmed_in_words_and_question_repeated():
    state = advance_to(started(), "model")
    setup = next(index for index, what in state.asked.extras.items() if what == "setup")  # pyright: ignore[reportOptionalMemberAccess]
    waiting = choose(state, setup)
    assert isinstance(waiting.asked and waiting.asked.turn, Clarify)
    assert topic(say(waiting, "done")) == "model"


def test_skill_is_written_before_capabilities_are_confirmed():
    state = started("Fetch the weather from a web API and say it in a sentence", mode=Mode.SKILL)
    while state.due is None:
        asked = state.asked
        assert asked is not None
        if asked.topic == "kind":
            ids = [option.id for option in question_of(state).options]
            state = choose(state, ids.index("script"))
        else:
            state = (
                choose(state) if not isinstance(asked.turn, Clarify) else say(state, "the weather of a city")
            )
    assert state.due is Due.WRITE
    state = engine.apply_written(state, written_from_template(state))
    assert topic(state).startswith("capability:")
    ready = walk_to_end(state)
    assert isinstance(ready.asked and ready.asked.turn, ReadyToCreateSkill)


# With a model


def test_answers_are_rejected_while_the_model_is_due():
    state = started(speaker=InterviewSpeaker.MODEL)
    assert state.due is Due.ASK
    with pytest.raises(Conflict, match="thinking"):
        choose(state)
    state = model_says(state, **QUESTION)
    assert state.due is None
    assert choose(state).due is Due.ASK


def test_patch_of_an_option_applies_before_the_model_turn():
    state = choose(model_says(started(speaker=InterviewSpeaker.MODEL), **QUESTION), 1)
    assert state.config.tone == "proud"


def test_patch_of_the_model_is_dropped_with_its_answer():
    state = say(
        model_says(started(speaker=InterviewSpeaker.MODEL), **QUESTION), "like a proud parent, call it Nest"
    )
    state = model_says(
        state, **{**QUESTION, "phase": "model", "field": "model", "patch": {"name": "Nest", "tone": "proud"}}
    )
    assert (state.config.name, state.config.tone) == ("Nest", "proud")
    assert (state.exchanges[-1].model, state.exchanges[-1].cost_micros) == (MODEL, 7)
    back = take(state, WentBack())
    assert back.config.name is None
    assert back.due is None


def test_answers_kept_by_the_model_are_not_repeated():
    state = choose(
        model_says(
            started(speaker=InterviewSpeaker.MODEL), **{**QUESTION, "phase": "basics", "field": "name"}
        ),
        0,
    )
    state = choose(model_says(state, **QUESTION), 1)
    state = model_says(state, **{**QUESTION, "phase": "model", "question": "Which model?", "field": "model"})
    kept = state.exchanges[1].number
    changed = say(take(state, WentBack(phase=Phase.BASICS)), "Nest")
    assert [one.number for one in changed.set_aside] == [kept]
    continued = model_says(
        changed, **{**QUESTION, "phase": "model", "question": "Which?", "field": "model", "keeps": [kept]}
    )
    assert continued.config.tone == "proud"
    assert continued.question_count == 2
    assert continued.set_aside == []


def test_guide_continues_for_a_failed_model():
    state = choose(model_says(started(speaker=InterviewSpeaker.MODEL), **QUESTION), 1)
    state = engine.fall_back_to_guide(state, "The provider does not answer.")
    assert state.speaker is InterviewSpeaker.GUIDE
    assert state.why_guide == "The provider does not answer."
    assert state.config.tone == "proud"
    assert isinstance(walk_to_end(state).asked and walk_to_end(state).asked.turn, ReadyToAssemble)  # pyright: ignore[reportOptionalMemberAccess]


def test_endless_model_is_stopped_by_the_budget():
    state = started("remind me of birthdays", speaker=InterviewSpeaker.MODEL)
    for number in range(question_budget(state).maximum):
        state = model_says(state, **{**QUESTION, "question": f"Number {number}?"})
        state = choose(state)
    state = model_says(state, **QUESTION)
    assert state.due is Due.WRITE
    state = engine.apply_written(state, written_from_template(state))
    assert isinstance(state.asked and state.asked.turn, ReadyToAssemble)


def test_soul_is_rewritten_for_other_settings():
    state = say(model_says(started(speaker=InterviewSpeaker.MODEL), **QUESTION), "calm; call it Heron")
    state = model_says(state, action="ready", phase="review", patch={"name": "Heron"})
    assert state.due is Due.WRITE
    state = engine.apply_written(state, written_from_template(state))
    state = say(state, "call it Nest")
    assert state.due is Due.ASK
    assert model_says(state, action="ready", phase="review", patch={"name": "Nest"}).due is Due.WRITE


def test_missing_name_is_asked_for_by_the_guide():
    state = choose(model_says(started(speaker=InterviewSpeaker.MODEL), **QUESTION))
    assert topic(model_says(state, action="ready", phase="review")) == "name"


def test_speaker_can_be_switched_in_the_engine():
    state = advance_to(started(), "tone")
    switched = engine.switch_speaker(state, InterviewSpeaker.MODEL, None)
    assert switched.asked == state.asked
    assert choose(switched).due is Due.ASK


def test_cancelling_takes_the_answer_back():
    asked = model_says(started(speaker=InterviewSpeaker.MODEL), **QUESTION)
    assert engine.cancel_pending(choose(asked)) == asked
    first = engine.cancel_pending(started(speaker=InterviewSpeaker.MODEL))
    assert first.speaker is InterviewSpeaker.GUIDE
    assert first.asked is not None


def test_cancelling_a_rewrite_restores_the_review():
    ready = walk_to_end(started())
    turn = ready.asked.turn if ready.asked else None
    assert isinstance(turn, ReadyToAssemble)
    edited = turn.config.model_copy(update={"name": "Lantern"})
    assert engine.cancel_pending(engine.request_rewrite(ready.replace(edited=edited))) == ready


def test_batch_shares_settings_and_has_differences():
    state = walk_to_end(started("a reading companion", mode=Mode.BATCH, basis=Basis(variants=3)))
    turn = state.asked.turn if state.asked else None
    assert isinstance(turn, ReadyToAssemble)
    assert len({variant.name for variant in turn.config.variants}) == 3


def test_finished_interview_rejects_answers():
    ready = walk_to_end(started())
    with pytest.raises(Conflict, match="finished"):
        take(ready.replace(made=Made(at=AT)), Said(text="one more thing"))
