"""The next question of an interview, whatever it is about."""

from forge.interview.guide.batches import next_of_batch
from forge.interview.guide.bots import next_of_bot
from forge.interview.guide.changes import next_of_change
from forge.interview.guide.skills import next_of_skill
from forge.interview.phases import Mode
from forge.interview.state import Asked, State


def next_question(state: State) -> Asked | None:
    """None when there is nothing left to ask."""
    match state.mode:
        case Mode.BOT:
            return next_of_bot(state)
        case Mode.BATCH:
            return next_of_batch(state)
        case Mode.RECONFIGURE:
            return next_of_change(state)
        case Mode.SKILL:
            return next_of_skill(state)
