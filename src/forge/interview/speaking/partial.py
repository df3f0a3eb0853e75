"""The words of a turn while its JSON is still being written."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from pydantic_core import from_json

from forge.kernel.text import whole_characters

SHOWN = ("question", "message")


class Words:
    """Passes on what is added to the question, or to the message.

    A model may begin again: another one takes over from one that broke off, or an answer that did not fit is repaired.
    What was shown cannot be taken back, so then only what continues it is passed on; the whole turn replaces it all.
    """

    def __init__(self, on_words: Callable[[str], Awaitable[None]]) -> None:
        self._on_words = on_words
        self._json = ""
        self._shown = ""

    async def hear(self, piece: str) -> None:
        """A piece of the answer's JSON; an empty one begins it anew."""
        self._json = self._json + piece if piece else ""
        words = _words(self._json)
        if len(words) > len(self._shown) and words.startswith(self._shown):
            added, self._shown = words[len(self._shown) :], words
            await self._on_words(added)


def _words(json: str) -> str:
    """Of JSON that may end anywhere; nothing while it is not JSON at all."""
    try:
        found = from_json(json, allow_partial="trailing-strings")
    except ValueError:
        return ""
    if not isinstance(found, dict):
        return ""
    said = cast("dict[str, Any]", found)
    words = next((text for name in SHOWN if isinstance(text := said.get(name), str) and text), "")
    return whole_characters(words)
