from tests.interview.guide.offers import DESCRIPTIONS, FACTS
from tests.interview.walking import choose, on_to, one_on, question_of, say, started, to_the_end, topic

from forge.interview.answers import Chosen
from forge.interview.categories import Known
from forge.interview.completing import missing, to_config
from forge.interview.config import MAX_VARIANTS
from forge.interview.phases import Mode, Phase
from forge.interview.state import Basis, State
from forge.interview.turns import ReadyToAssemble

SUPPORT = DESCRIPTIONS[Known.CUSTOMER_SERVICE]


def batch(variants: int = 3) -> State:
    return started(SUPPORT, mode=Mode.BATCH, basis=Basis(variants=variants), facts=FACTS)


def test_it_asks_for_a_common_name_and_then_for_each_difference():
    state = batch()
    assert "in common" in question_of(state).question
    state = to_the_end(state)
    assert [one.asked.topic for one in state.exchanges] == [
        *("name", "audience", "tone", "boundaries", "variant:1", "variant:2", "variant:3", "model", "skills"),
    ]
    config = to_config(state)
    assert [one.name for one in config.variants] == [
        f"{config.name} Classic",
        f"{config.name} Brief",
        f"{config.name} In Depth",
    ]


def test_a_difference_in_words_is_kept_as_it_was_said():
    state = say(on_to(batch(), "variant:1"), "Speaks only of bicycles, and never of cars")
    state = say(state, "for children")
    assert [(one.name, one.difference) for one in state.config.variants or []] == [
        ("Support Email Responder 1", "Speaks only of bicycles, and never of cars."),
        ("Support Email Responder Children", "For children."),
    ]


def test_a_variation_is_offered_only_once():
    state = choose(on_to(batch(), "variant:1"), 1)
    assert "brief" not in [option.id for option in question_of(state).options]


def test_no_two_have_the_same_name():
    state = on_to(batch(), "variant:1")
    for _ in range(3):
        state = say(state, "for children")
    names = [one.name for one in state.config.variants or []]
    assert len(set(names)) == 3


def test_the_largest_batch_has_something_to_choose_to_the_end():
    state = to_the_end(batch(MAX_VARIANTS))
    assert len({one.name for one in to_config(state).variants}) == MAX_VARIANTS


def test_skipping_fills_up_what_was_not_talked_about():
    state = choose(on_to(batch(), "variant:1"), 3)
    turn = question_of(state)
    state = choose(state, [option.id for option in turn.options].index("skip"))
    assert topic(state) == "ready"
    assert state.asked is not None and isinstance(state.asked.turn, ReadyToAssemble)
    assert [
        one.name.removeprefix("Support Email Responder ") for one in state.asked.turn.config.variants
    ] == [
        *("for Beginners", "Classic", "Brief"),
    ]


def test_what_is_missing_counts_the_variants():
    state = on_to(batch(), "variant:2")
    assert "what makes 2 variants different" in missing(state)
    assert "what makes one variant different" in missing(one_on(state))


def test_differences_are_part_of_the_personality():
    state = on_to(batch(), "variant:1")
    assert question_of(state).phase is Phase.PERSONALITY
    assert isinstance(choose(state).exchanges[-1].answer, Chosen)
