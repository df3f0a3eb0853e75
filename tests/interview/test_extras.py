from tests.interview.guide.offers import ATLAS, DESCRIPTIONS, FACTS, KEYLESS, OPUS, REMEMBERED
from tests.interview.walking import choose, new_state, on_to, one_on, question_of, say, started, take, topic

from forge.interview.answers import Confirmed
from forge.interview.categories import Known
from forge.interview.config import NOTHING, Fields, SkillRequest
from forge.interview.extras import with_extras
from forge.interview.phases import Mode, Phase
from forge.interview.state import Asked, Facts, Speaker, State
from forge.interview.turns import MAX_OPTIONS, AskQuestion, Clarify, QuestionOption

SUMMARIZE = SkillRequest(name="summarize", description="Does summarize.")
ANALYST = DESCRIPTIONS[Known.COMPLEX_ANALYST]


def ids(state: State) -> list[str]:
    return [option.id for option in question_of(state).options]


def question(phase: Phase, options: int, topic: str = "model:1", ids: str = "option") -> Asked:
    """As a model would ask it."""
    turn = AskQuestion(
        phase=phase,
        question="Which?",
        options=[
            QuestionOption(id=f"{ids}-{n}", label=f"Label {n}", reason="Because.") for n in range(options)
        ],
    )
    patches = [Fields(tone=f"tone {n}") for n in range(options)]
    return Asked(turn=turn, topic=topic, speaker=Speaker.MODEL, patches=patches, free="tone")


def test_the_rest_may_be_skipped_from_the_fifth_question_on():
    state, offered = started(ANALYST, facts=FACTS), list[bool]()
    while topic(state) != "ready":
        offered.append("skip" in ids(state))
        state = one_on(state)
    assert offered == [False] * 4 + [True] * 5


def test_skipping_leads_to_the_review_with_sensible_defaults():
    state = on_to(started(ANALYST, facts=FACTS), "boundaries")
    place = ids(state).index("skip")
    assert question_of(state).options[place].reason.endswith(" Skills: summarize.")
    state = choose(state, place)
    assert topic(state) == "ready"
    assert state.config.skills == [SUMMARIZE]


def test_skipping_leaves_the_skills_that_were_chosen():
    state = on_to(started(ANALYST, facts=FACTS), "boundaries")
    last = state.exchanges[-1].model_copy(update={"patch": Fields(skills=[])})
    asked = with_extras(state.but(exchanges=[*state.exchanges[:-1], last]), question(Phase.PERSONALITY, 2))
    assert asked.patches[-1] == NOTHING


def test_what_was_chosen_last_time_is_offered_once_with_the_reason():
    names = [*FACTS.skill_names, "own-thing"]
    facts = FACTS.model_copy(update={"remembered": [REMEMBERED], "skill_names": names})
    state = on_to(started(ANALYST, facts=facts), "tone")
    assert state.asked is not None
    place = ids(state).index("same")
    assert state.asked.extras == {place: "same"}
    option = question_of(state).options[place]
    assert option.label == "Same as last time: empathetic tone, Claude Opus 5, summarize and own-thing"
    assert option.reason == "You chose this for letters: “Answer letters”."
    state = choose(state, place)
    assert (state.config.tone, state.config.model) == ("empathetic", OPUS.ref)
    assert state.config.skills == [
        SkillRequest(name="summarize", description="Does summarize."),
        SkillRequest(name="own-thing"),
    ]
    while topic(state) != "ready":
        assert topic(state) not in ("tone", "model", "skills")
        assert "same" not in ids(state)
        state = one_on(state)


def test_a_memory_without_any_choice_is_not_offered():
    nothing = REMEMBERED.model_copy(update={"chosen_tone": None, "chosen_model": None, "chosen_skills": []})
    state = on_to(started(ANALYST, facts=FACTS.model_copy(update={"remembered": [nothing]})), "tone")
    assert "same" not in ids(state)


def test_a_model_can_be_set_up_first_where_none_has_a_key():
    state = on_to(started(ANALYST, facts=Facts(models=[KEYLESS])), "model")
    place = ids(state).index("setup")
    assert state.asked is not None and state.asked.extras[place] == "setup"
    assert "setup" not in ids(on_to(started(ANALYST, facts=FACTS), "model"))


def test_after_the_set_up_the_model_is_asked_for_again():
    state = on_to(started(ANALYST, facts=Facts(models=[KEYLESS])), "model")
    state = choose(state, ids(state).index("setup"))
    assert state.asked is not None and isinstance(state.asked.turn, Clarify)
    state = say(state, "It is there")
    assert (topic(state), "setup" in ids(state)) == ("model", True)
    state = choose(state)
    assert (topic(state), "setup" in ids(state)) == ("creativity", False)


def test_the_last_options_of_a_model_give_way():
    facts = FACTS.model_copy(update={"remembered": [REMEMBERED]})
    state = new_state(ANALYST, facts=facts)
    far = state.but(exchanges=on_to(started(ANALYST, facts=facts), "traits").exchanges[:2] * 2)
    asked = with_extras(far, question(Phase.PERSONALITY, MAX_OPTIONS))
    assert isinstance(asked.turn, AskQuestion)
    assert [option.id for option in asked.turn.options] == [
        *("option-0", "option-1", "option-2", "option-3", "same", "skip"),
    ]
    assert asked.patches[:4] == [Fields(tone=f"tone {n}") for n in range(4)]
    assert asked.patches[5] == Fields(skills=[SUMMARIZE])
    assert asked.extras == {4: "same", 5: "skip"}


def test_patches_and_options_stay_side_by_side_when_some_are_missing():
    state = new_state(ANALYST, facts=Facts())
    bare = question(Phase.MODEL, 3).model_copy(update={"patches": []})
    asked = with_extras(state, bare)
    assert asked.patches == [NOTHING] * 4
    assert asked.extras == {3: "setup"}


def test_nothing_is_added_in_the_review_or_to_a_question_in_words():
    state = on_to(started(ANALYST, facts=FACTS), "skills")
    review = question(Phase.REVIEW, 3)
    assert with_extras(state, review) == review
    words = Asked(turn=Clarify(phase=Phase.SKILLS, message="Which?"), topic="skills", speaker=Speaker.GUIDE)
    assert with_extras(state, words) == words


def test_nothing_is_added_twice():
    state = on_to(started(ANALYST, facts=FACTS), "skills")
    assert state.asked is not None
    assert with_extras(state, state.asked) == state.asked


def test_the_rest_of_a_change_is_left_as_it_is():
    state = started("", mode=Mode.RECONFIGURE, basis=ATLAS, facts=FACTS)
    state = take(state, Confirmed(yes=True))
    for wanted in ("personality", "keep", "keep", "identity"):
        assert "skip" not in ids(state)
        state = choose(state, ids(state).index(wanted))
    assert question_of(state).options[-1].label == "Skip the rest: leave it as it is"


def test_what_is_no_longer_there_is_not_offered_again():
    gone = REMEMBERED.model_copy(update={"chosen_model": "nobody:nothing", "chosen_skills": ["gone"]})
    state = on_to(started(ANALYST, facts=FACTS.model_copy(update={"remembered": [gone]})), "tone")
    place = ids(state).index("same")
    assert question_of(state).options[place].label == "Same as last time: empathetic tone"
