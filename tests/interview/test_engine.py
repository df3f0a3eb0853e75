import pytest
from tests.interview.walking import (
    AT,
    MODEL,
    choose,
    hear,
    on_to,
    question_of,
    say,
    started,
    take,
    to_the_end,
    topic,
    written_plainly,
)

from forge.errors import Conflict
from forge.interview import engine
from forge.interview.answers import Chosen, Confirmed, Said, WentBack
from forge.interview.budget import budget_of
from forge.interview.errors import BadAnswer
from forge.interview.phases import Mode, Phase
from forge.interview.state import Basis, Due, Made, Speaker
from forge.interview.turns import Clarify, ReadyToAssemble, ReadyToCreateSkill

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


def test_the_answer_is_kept_in_words_and_not_as_a_number():
    state = on_to(started(), "tone")
    label = question_of(state).options[1].label
    state = choose(state, 1)
    assert state.exchanges[-1].label == label
    assert state.config.tone


def test_an_option_that_is_not_there_changes_nothing():
    state = started()
    with pytest.raises(BadAnswer, match="no option 17"):
        choose(state, 17)


def test_yes_is_no_answer_to_a_question():
    with pytest.raises(BadAnswer, match="Choose one"):
        take(started(), Confirmed(yes=True))


def test_the_words_of_an_option_choose_it():
    state = on_to(started(), "tone")
    option = question_of(state).options[2]
    assert say(state, f"  {option.label.upper()} ").exchanges[-1].answer == Chosen(index=2)


def test_words_that_cannot_be_used_leave_the_options_as_they_were():
    state = on_to(started(), "model")
    plain = question_of(state)
    again = say(say(state, "the one from the moon"), "or from mars")
    assert question_of(again).options == plain.options
    assert question_of(again).question.endswith(plain.question)
    assert question_of(again).question.count(plain.question) == 1
    assert choose(again).exchanges[-1].asked.turn == plain


def test_there_is_nothing_before_the_first_question():
    with pytest.raises(BadAnswer, match="first question"):
        take(started(), WentBack())


def test_back_asks_the_same_again_and_forgets_what_was_said():
    before = on_to(started(), "tone")
    after = take(choose(before), WentBack())
    assert after.asked == before.asked
    assert after.config == before.config
    assert after.question_count == before.question_count


def test_the_same_answer_again_leads_back_to_where_one_was():
    state = on_to(started(), "model")
    back = take(state, WentBack(phase=Phase.BASICS))
    assert back.exchanges == []
    again = choose(back)
    assert again.asked == state.asked
    assert again.exchanges == state.exchanges
    assert again.set_aside == []


def test_another_name_leaves_the_tone_alone():
    state = on_to(started(), "model")
    tone = state.config.tone
    changed = say(on_to(take(state, WentBack(phase=Phase.BASICS)), "name"), "Heron")
    assert changed.config.name == "Heron"
    assert changed.config.tone == tone
    assert changed.phase is Phase.MODEL


def test_another_purpose_asks_again_what_depends_on_it():
    state = started("Something for my garden")
    assert topic(state) == "category"
    state = on_to(state, "tone")
    first = question_of(state)
    back = take(choose(state), WentBack(phase=Phase.BASICS))
    ids = [option.id for option in question_of(back).options]
    changed = on_to(choose(back, ids.index("creative")), "tone")
    assert question_of(changed) != first
    assert changed.purpose == "creative"


def test_back_only_to_what_was_asked():
    with pytest.raises(BadAnswer, match="Nothing was asked about skills"):
        take(choose(started()), WentBack(phase=Phase.SKILLS))


def test_every_category_ends_within_its_budget():
    for description in (
        "remind me of birthdays",
        "analyse our metrics",
        "write poems",
        "debug code",
        "research papers",
    ):
        state = to_the_end(started(description))
        assert isinstance(state.asked and state.asked.turn, ReadyToAssemble)
        assert state.question_count <= budget_of(state).most


def test_the_rest_can_be_skipped_from_the_fifth_question_on():
    state = started("analyse our sales data and write a report")
    while state.question_count < 4:
        assert "skip" not in [option.id for option in question_of(state).options]
        state = choose(state)
    skip = [option.id for option in question_of(state).options].index("skip")
    assert isinstance((choose(state, skip).asked or state.asked).turn, ReadyToAssemble)  # pyright: ignore[reportOptionalMemberAccess]


def test_yes_at_the_end_makes_nothing_and_no_goes_back():
    ready = to_the_end(started())
    assert take(ready, Confirmed(yes=True)) == ready
    assert take(ready, Confirmed(yes=False)).exchanges == ready.exchanges[:-1]


def test_words_at_the_end_ask_what_to_look_at_again():
    ready = to_the_end(started())
    asked = say(ready, "it should be kinder")
    labels = [option.id for option in question_of(asked).options]
    chosen = choose(asked, labels.index("personality"))
    assert chosen.phase is Phase.PERSONALITY


def test_a_model_to_be_set_up_is_asked_for_in_words_and_then_the_question_comes_again():
    state = on_to(started(), "model")
    setup = next(index for index, what in state.asked.extras.items() if what == "setup")  # pyright: ignore[reportOptionalMemberAccess]
    waiting = choose(state, setup)
    assert isinstance(waiting.asked and waiting.asked.turn, Clarify)
    assert topic(say(waiting, "done")) == "model"


def test_a_skill_is_written_before_its_abilities_are_confirmed():
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
    state = engine.wrote(state, written_plainly(state))
    assert topic(state).startswith("capability:")
    ready = to_the_end(state)
    assert isinstance(ready.asked and ready.asked.turn, ReadyToCreateSkill)


# With a model


def test_a_model_is_due_after_every_answer_and_until_then_nobody_may_answer():
    state = started(speaker=Speaker.MODEL)
    assert state.due is Due.ASK
    with pytest.raises(Conflict, match="thinking"):
        choose(state)
    state = hear(state, **QUESTION)
    assert state.due is None
    assert choose(state).due is Due.ASK


def test_what_an_option_means_is_known_before_the_model_is_asked_again():
    state = choose(hear(started(speaker=Speaker.MODEL), **QUESTION), 1)
    assert state.config.tone == "proud"


def test_what_the_model_understood_belongs_to_the_answer_and_goes_with_it():
    state = say(hear(started(speaker=Speaker.MODEL), **QUESTION), "like a proud parent, call it Nest")
    state = hear(
        state, **{**QUESTION, "phase": "model", "field": "model", "patch": {"name": "Nest", "tone": "proud"}}
    )
    assert (state.config.name, state.config.tone) == ("Nest", "proud")
    assert (state.exchanges[-1].model, state.exchanges[-1].cost_micros) == (MODEL, 7)
    back = take(state, WentBack())
    assert back.config.name is None
    assert back.due is None


def test_answers_that_the_model_says_still_hold_are_not_asked_again():
    state = choose(
        hear(started(speaker=Speaker.MODEL), **{**QUESTION, "phase": "basics", "field": "name"}), 0
    )
    state = choose(hear(state, **QUESTION), 1)
    state = hear(state, **{**QUESTION, "phase": "model", "question": "Which model?", "field": "model"})
    kept = state.exchanges[1].number
    changed = say(take(state, WentBack(phase=Phase.BASICS)), "Nest")
    assert [one.number for one in changed.set_aside] == [kept]
    heard = hear(
        changed, **{**QUESTION, "phase": "model", "question": "Which?", "field": "model", "keeps": [kept]}
    )
    assert heard.config.tone == "proud"
    assert heard.question_count == 2
    assert heard.set_aside == []


def test_the_guide_goes_on_when_the_model_does_not():
    state = choose(hear(started(speaker=Speaker.MODEL), **QUESTION), 1)
    state = engine.give_up(state, "The provider does not answer.")
    assert state.speaker is Speaker.GUIDE
    assert state.why_guide == "The provider does not answer."
    assert state.config.tone == "proud"
    assert isinstance(to_the_end(state).asked and to_the_end(state).asked.turn, ReadyToAssemble)  # pyright: ignore[reportOptionalMemberAccess]


def test_a_model_that_never_comes_to_an_end_is_brought_to_one():
    state = started("remind me of birthdays", speaker=Speaker.MODEL)
    for number in range(budget_of(state).most):
        state = hear(state, **{**QUESTION, "question": f"Number {number}?"})
        state = choose(state)
    state = hear(state, **QUESTION)
    assert state.due is Due.WRITE
    state = engine.wrote(state, written_plainly(state))
    assert isinstance(state.asked and state.asked.turn, ReadyToAssemble)


def test_a_soul_is_written_for_its_settings_and_anew_for_others():
    state = choose(hear(started(speaker=Speaker.MODEL), **QUESTION))
    state = hear(state, action="ready", phase="review", patch={"name": "Heron"})
    assert state.due is Due.WRITE
    state = engine.wrote(state, written_plainly(state))
    state = say(state, "call it Nest")
    assert state.due is Due.ASK
    assert hear(state, action="ready", phase="review", patch={"name": "Nest"}).due is Due.WRITE


def test_a_model_that_forgot_the_name_does_not_make_up_one():
    state = choose(hear(started(speaker=Speaker.MODEL), **QUESTION))
    assert topic(hear(state, action="ready", phase="review")) == "name"


def test_who_speaks_can_change_in_the_middle():
    state = on_to(started(), "tone")
    switched = engine.switch(state, Speaker.MODEL, None)
    assert switched.asked == state.asked
    assert choose(switched).due is Due.ASK


def test_a_thought_that_is_cancelled_takes_the_answer_back():
    asked = hear(started(speaker=Speaker.MODEL), **QUESTION)
    assert engine.withdraw(choose(asked)) == asked
    first = engine.withdraw(started(speaker=Speaker.MODEL))
    assert first.speaker is Speaker.GUIDE
    assert first.asked is not None


def test_a_soul_that_is_not_waited_for_leaves_the_review_as_it_was():
    ready = to_the_end(started())
    turn = ready.asked.turn if ready.asked else None
    assert isinstance(turn, ReadyToAssemble)
    edited = turn.config.model_copy(update={"name": "Lantern"})
    assert engine.withdraw(engine.rewrite(ready.but(edited=edited))) == ready


def test_several_bots_are_one_bot_and_what_makes_each_different():
    state = to_the_end(started("a reading companion", mode=Mode.BATCH, basis=Basis(variants=3)))
    turn = state.asked.turn if state.asked else None
    assert isinstance(turn, ReadyToAssemble)
    assert len({variant.name for variant in turn.config.variants}) == 3


def test_nothing_is_said_in_an_interview_that_is_over():
    ready = to_the_end(started())
    with pytest.raises(Conflict, match="finished"):
        take(ready.but(made=Made(at=AT)), Said(text="one more thing"))
