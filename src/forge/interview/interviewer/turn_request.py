"""Ask the model for its next turn, streaming its text."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from pydantic_core import from_json

from forge.interview.domain.state import State
from forge.interview.interviewer.model_reply import ModelReply
from forge.interview.interviewer.prompt import build_prompt
from forge.kernel.text import repair_surrogates
from forge.llm.budgets import Spender
from forge.llm.gateway import Gateway, StructuredAnswer
from forge.llm.models import Role

TEXT_FIELDS = ("question", "message")


class TextStream:
    """Stream the text added to the question or message.

    The answer may restart: another model takes over after a failure, or an invalid answer is repaired. Text
    that was already streamed cannot be taken back, so then only a continuation of it is streamed; the
    complete turn replaces it.
    """

    def __init__(self, on_text: Callable[[str], Awaitable[None]]) -> None:
        self._on_text = on_text
        self._json = ""
        self._shown = ""

    async def feed(self, piece: str) -> None:
        """Add a piece of the JSON; an empty piece restarts it."""
        self._json = self._json + piece if piece else ""
        words = _partial_text(self._json)
        if len(words) > len(self._shown) and words.startswith(self._shown):
            added, self._shown = words[len(self._shown) :], words
            await self._on_text(added)


def _partial_text(json: str) -> str:
    """Return the text in incomplete JSON; empty as long as it cannot be parsed."""
    try:
        found = from_json(json, allow_partial="trailing-strings")
    except ValueError:
        return ""
    if not isinstance(found, dict):
        return ""
    reply = cast("dict[str, Any]", found)
    turn = reply.get("turn")
    reply = cast("dict[str, Any]", turn) if isinstance(turn, dict) else reply
    words = next((text for name in TEXT_FIELDS if isinstance(text := reply.get(name), str) and text), "")
    return repair_surrogates(words)


async def request_turn(
    gateway: Gateway,
    spender: Spender,
    state: State,
    on_delta: Callable[[str], Awaitable[None]] | None = None,
    *,
    example: ModelReply | None = None,
) -> StructuredAnswer[ModelReply]:
    """Ask for a turn. Raise what the gateway raises. `on_delta` receives the text of the question in pieces
    as a preview; only the returned turn is final. `example` is shown to a model whose reply was invalid."""
    words = TextStream(on_delta) if on_delta else None
    return await gateway.ask_with_cost(
        spender,
        Role.INTERVIEWER,
        build_prompt(state),
        ModelReply,
        example=example,
        on_answer=words.feed if words else None,
    )
