from tests.interview.guide.facts import ATLAS, DESCRIPTIONS, FACTS, KEYLESS, OPUS, REMEMBERED
from tests.interview.walk import (
    advance,
    advance_to,
    choose,
    new_state,
    question_of,
    say,
    started,
    take,
    topic,
)

from forge.interview.domain.build_config import NOTHING, Fields, SkillRequest
from forge.interview.domain.categories import KnownPurpose
from forge.interview.domain.dialogue import (
    MAX_OPTIONS,
    AskQuestion,
    Clarify,
    Confirmed,
    Mode,
    Phase,
    QuestionOption,
)
from forge.interview.domain.state import Asked, Facts, InterviewSpeaker, State
from forge.interview.extra_options import add_extra_options

SUMMARIZE = SkillRequest(name="summarize", description="Does summarize.")
ANALYST = DESCRIPTIONS[KnownPurpose.COMPLEX_ANALYST]


def ids(state: State) -> list[str]:
    return [option.id for option in question_of(state).options]


def question(phase: Phase, options: int, topic: str = "model:1", ids: str = "option") -> Asked:
    """Build a question of the model."""
    turn = AskQuestion(
        phase=phase,
        question="Which?",
        options=[
            QuestionOption(id=f"{ids}-{n}", label=f"Label {n}", reason="Because.") for n in range(options)
        ],
    )
    patches = [Fields(tone=f"tone {n}") for n in range(options)]
    return Asked(turn=turn, topic=topic, speaker=InterviewSpeaker.MODEL, patches=patches, free="tone")


def test_skip_is_offered_from_the_fifth_question():
    state, offered = started(ANALYST, facts=FACTS), list[bool]()
    while topic(state) != "ready":
        offered.append("skip" in ids(state))
        state = advance(state)
    assert offered == [False] * 4 + [True] * 5


def test_skipping_leads_to_the_review_with_defaults():
    state = advance_to(started(ANALYST, facts=FACTS), "boundaries")
    index = ids(state).index("skip")
    assert question_of(state).options[index].reason.endswith(" Skills: summarize.")
    state = choose(state, index)
    assert topic(state) == "ready"
    assert state.config.skills == [SUMMARIZE]


def test_skipping_keeps_chosen_skills():
    state = advance_to(started(ANALYST, facts=FACTS), "boundaries")
    last = state.exchanges[-1].model_copy(update={"patch": Fields(skills=[])})
    asked = add_extra_options(
        state.replace(exchanges=[*state.exchanges[:-1], last]), question(Phase.PERSONALITY, 2)
    )
    assert asked.patches[-1] == NOTHING


def test_remembered_choices_are_offered_once_with_a_reason():
    names = [*FACTS.skill_names, "own-thing"]
    facts = FACTS.model_copy(update={"remembered": [REMEMBERED], "skill_names": names})
    state = advance_to(started(ANALYST, facts=facts), "tone")
    assert state.asked is not None
    index = ids(state).index("same")
    assert state.asked.extras == {index: "same"}
    option = question_of(state).options[index]
    assert option.label == "Same as last time: empathetic tone, Claude Opus 5, summarize and own-thing"
    assert option.reason == "You chose this for letters: “Answer letters”."
    state = choose(state, index)
    assert (state.config.tone, state.config.model) == ("empathetic", OPUS.ref)
    assert state.config.skills == [
        SkillRequest(name="summarize", description="Does summarize."),
        SkillRequest(name="own-thing"),
    ]
    while topic(state) != "ready":
        assert topic(state) not in ("tone", "model", "skills")
        assert "same" not in ids(state)
        state = advance(state)


def test_memory_without_choices_is_not_offered():
    empty = REMEMBERED.model_copy(update={"chosen_tone": None, "chosen_model": None, "chosen_skills": []})
    state = advance_to(started(ANALYST, facts=FACTS.model_copy(update={"remembered": [empty]})), "tone")
    assert "same" not in ids(state)


def test_model_setup_is_offered_when_no_model_has_a_key():
    state = advance_to(started(ANALYST, facts=Facts(models=[KEYLESS])), "model")
    index = ids(state).index("setup")
    assert state.asked is not None and state.asked.extras[index] == "setup"
    assert "setup" not in ids(advance_to(started(ANALYST, facts=FACTS), "model"))


def test_model_question_is_repeated_after_setup():
    state = advance_to(started(ANALYST, facts=Facts(models=[KEYLESS])), "model")
    state = choose(state, ids(state).index("setup"))
    assert state.asked is not None and isinstance(state.asked.turn, Clarify)
    state = say(state, "It is there")
    assert (topic(state), "setup" in ids(state)) == ("model", True)
    state = choose(state)
    assert (topic(state), "setup" in ids(state)) == ("creativity", False)


def test_last_options_of_the_model_make_room_for_extra_ones():
    facts = FACTS.model_copy(update={"remembered": [REMEMBERED]})
    state = new_state(ANALYST, facts=facts)
    later = state.replace(exchanges=advance_to(started(ANALYST, facts=facts), "traits").exchanges[:2] * 2)
    asked = add_extra_options(later, question(Phase.PERSONALITY, MAX_OPTIONS))
    assert isinstance(asked.turn, AskQuestion)
    assert [option.id for option in asked.turn.options] == [
        *("option-0", "option-1", "option-2", "option-3", "same", "skip"),
    ]
    assert asked.patches[:4] == [Fields(tone=f"tone {n}") for n in range(4)]
    assert asked.patches[5] == Fields(skills=[SUMMARIZE])
    assert asked.extras == {4: "same", 5: "skip"}


def test_missing_patches_are_filled_to_match_options():
    state = new_state(ANALYST, facts=Facts())
    without_patches = question(Phase.MODEL, 3).model_copy(update={"patches": []})
    asked = add_extra_options(state, without_patches)
    assert asked.patches == [NOTHING] * 4
    assert asked.extras == {3: "setup"}


def test_review_and_clarify_turns_get_no_extra_options():
    state = advance_to(started(ANALYST, facts=FACTS), "skills")
    review = question(Phase.REVIEW, 3)
    assert add_extra_options(state, review) == review
    clarify = Asked(
        turn=Clarify(phase=Phase.SKILLS, message="Which?"), topic="skills", speaker=InterviewSpeaker.GUIDE
    )
    assert add_extra_options(state, clarify) == clarify


def test_extra_options_are_not_added_twice():
    state = advance_to(started(ANALYST, facts=FACTS), "skills")
    assert state.asked is not None
    assert add_extra_options(state, state.asked) == state.asked


def test_skipping_a_reconfiguration_keeps_the_rest():
    state = started("", mode=Mode.RECONFIGURE, basis=ATLAS, facts=FACTS)
    state = take(state, Confirmed(yes=True))
    for option_id in ("personality", "keep", "keep", "identity"):
        assert "skip" not in ids(state)
        state = choose(state, ids(state).index(option_id))
    assert question_of(state).options[-1].label == "Skip the rest: leave it as it is"


def test_remembered_choices_that_are_gone_are_not_offered():
    gone = REMEMBERED.model_copy(update={"chosen_model": "unknown:unknown", "chosen_skills": ["gone"]})
    state = advance_to(started(ANALYST, facts=FACTS.model_copy(update={"remembered": [gone]})), "tone")
    index = ids(state).index("same")
    assert question_of(state).options[index].label == "Same as last time: empathetic tone"
