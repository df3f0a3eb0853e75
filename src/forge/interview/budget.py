"""How many questions an interview takes."""

from forge.interview.categories import Budget, defaults_for
from forge.interview.phases import Mode
from forge.interview.state import State

SKILL_BUDGET = Budget(3, 8)
CHANGE_BUDGET = Budget(1, 30)
"""Of a bot that is changed: as many as somebody likes, within reason."""


def budget_of(state: State) -> Budget:
    """By what the interview is about; a batch takes one more for each variant."""
    match state.mode:
        case Mode.SKILL:
            return SKILL_BUDGET
        case Mode.RECONFIGURE:
            return CHANGE_BUDGET
        case Mode.BOT | Mode.BATCH:
            usual = defaults_for(state.purpose).budget
            return Budget(usual.fewest + state.basis.variants, usual.most + state.basis.variants)
