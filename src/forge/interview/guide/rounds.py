"""Changing something that exists goes in rounds: which part, the questions about it, and then whether there is more."""

from dataclasses import dataclass

from forge.interview.answers import Chosen, Said
from forge.interview.parts import Part, part_in
from forge.interview.state import Exchange, State
from forge.interview.turns import AskQuestion

MAX_ROUNDS = 8
WHAT = "what"


@dataclass(frozen=True)
class Round:
    number: int
    part: Part | None
    """None when it was answered in words that say the change itself."""
    asked: frozenset[str]
    """Topics that were asked since."""

    def topic(self, name: str) -> str:
        """Told from the same question in another round."""
        return name if self.number == 1 else f"{name}@{self.number}"


def what_topic(number: int) -> str:
    return WHAT if number == 1 else f"{WHAT}:{number}"


def last_round(state: State) -> Round | None:
    """None before the first."""
    places = [place for place, one in enumerate(state.exchanges) if is_what(one.asked.topic)]
    if not places:
        return None
    since = frozenset(one.asked.topic for one in state.exchanges[places[-1] + 1 :])
    return Round(len(places), _part_of(state, state.exchanges[places[-1]]), since)


def is_what(topic: str) -> bool:
    return topic == WHAT or topic.startswith(f"{WHAT}:")


def _part_of(state: State, exchange: Exchange) -> Part | None:
    turn, answer = exchange.asked.turn, exchange.answer
    if isinstance(answer, Chosen) and isinstance(turn, AskQuestion):
        chosen = turn.options[answer.index].id
        return Part(chosen) if chosen in set(Part) else None
    if isinstance(answer, Said) and not exchange.patch.model_fields_set:
        return part_in(state.mode, answer.text)
    return None
