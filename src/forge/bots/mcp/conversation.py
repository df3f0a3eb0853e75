"""One question to a bot, on behalf of an MCP client: it hears how far the answer is, and can take the question back.

The server is asked in a thread of its own, for the client of commands is not asynchronous.
"""

import asyncio
from contextlib import closing, suppress

from mcp import types

from forge.bots.chat.following import Line, Listener
from forge.bots.chat.models import Message, MessageStatus, Turn
from forge.bots.mcp.plain import plain
from forge.bots.mcp.providers import Tell, failed, text_result
from forge.config import ClientSettings
from forge.errors import ForgeError
from forge.llm.models import MICROS
from forge.terminal.client import connect

TOLD_EVERY_S = 0.5
TAIL = 200
"""Characters of the answer so far that go with a word of progress."""


class Written:
    """What is there of an answer; filled in one thread, looked at in another."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, piece: str) -> None:
        self.text += piece

    def replace(self, text: str) -> None:
        self.text = text


class Conversation:
    def __init__(self, settings: ClientSettings, slug: str) -> None:
        self._settings = settings
        self._slug = slug

    async def ask(self, message: str, session_id: str | None, tell: Tell) -> types.CallToolResult:
        turn = await asyncio.to_thread(self._begin, message, session_id)
        written = Written()
        answering = asyncio.create_task(asyncio.to_thread(self._wait, turn, written))
        try:
            told = 0
            while not answering.done():
                await asyncio.wait({answering}, timeout=TOLD_EVERY_S)
                if len(written.text) > told:
                    told = len(written.text)
                    await tell(told, plain(written.text[-TAIL:], TAIL))
            return _result(answering.result())
        except asyncio.CancelledError:
            answering.cancel()
            # The client does not want it any more: a cancelled task can begin to say so, but not wait for it.
            asyncio.get_running_loop().run_in_executor(None, self._stop, turn.session.id)
            raise

    def _begin(self, message: str, session_id: str | None) -> Turn:
        with connect(self._settings) as client:
            return client.post(f"/bots/{self._slug}/chat", Turn, {"text": message, "session_id": session_id})

    def _wait(self, turn: Turn, written: Written) -> Message:
        with connect(self._settings) as client, closing(Line(client, turn.session.id)) as line:
            return line.wait_for(turn.answer, Listener(written.add, written.replace))

    def _stop(self, session_id: str) -> None:
        with suppress(ForgeError), connect(self._settings) as client:
            client.post(f"/sessions/{session_id}/stop", Message)


def _result(answer: Message) -> types.CallToolResult:
    session = f"session_id: {answer.session_id}"
    if answer.status in (MessageStatus.FAILED, MessageStatus.INTERRUPTED):
        why = f"{answer.error.message} {answer.error.hint or ''}" if answer.error else "It was interrupted."
        return failed(f"Error: {why}".rstrip(), *([answer.text] if answer.text else []), session)
    facts = {
        "session_id": answer.session_id,
        "answer": answer.text,
        "status": answer.status.value,
        "model": answer.answer.model if answer.answer else "",
        "cost_usd": answer.answer.cost_micros / MICROS if answer.answer else 0,
    }
    return text_result(answer.text, session, structured=facts)
