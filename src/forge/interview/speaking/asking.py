"""Asks the model for its next turn, and passes its words on while they are written."""

from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict

from forge.interview.speaking.partial import Words
from forge.interview.speaking.prompt import prompt_for
from forge.interview.speaking.reply import ModelTurn
from forge.interview.state import State
from forge.llm.gateway import Gateway
from forge.llm.models import Role
from forge.llm.money import Spender

OnWords = Callable[[str], Awaitable[None]]


class Spoken(BaseModel):
    """A turn, who gave it and what it cost."""

    model_config = ConfigDict(frozen=True)

    turn: ModelTurn
    model: str
    """`provider:model`."""
    cost_micros: int


async def ask(gateway: Gateway, spender: Spender, state: State, on_delta: OnWords | None = None) -> Spoken:
    """Raises what the gateway raises. `on_delta` gets the words of the question, piece by piece; they are only a
    foretaste: what holds is the turn."""
    words = Words(on_delta) if on_delta else None
    answer = await gateway.ask_with_bill(
        spender, Role.INTERVIEWER, prompt_for(state), ModelTurn, on_answer=words.hear if words else None
    )
    return Spoken(turn=answer.value, model=answer.model, cost_micros=answer.cost_micros)
