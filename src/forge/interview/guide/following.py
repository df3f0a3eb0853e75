"""The next question of an interview, whatever it is about."""

from forge.interview.guide.bots import next_of_bot
from forge.interview.state import Asked, State


def next_question(state: State) -> Asked | None:
    """None when there is nothing left to ask."""
    return next_of_bot(state)
