"""Passes an answer on while it is written, and keeps it: what a kill leaves of an answer is what was kept."""

import time
from typing import TYPE_CHECKING

from forge.agents.hands import FLUSH_S, LONGEST_WHISPER
from forge.bots.chat import store
from forge.bots.chat.branches import session_stream
from forge.bots.chat.models import ChatDelta, MessageStatus
from forge.events.log import EventLog
from forge.kernel.text import whole_characters
from forge.store.engine import Store
from forge.store.outage import survives_outage

if TYPE_CHECKING:
    from forge.llm.listening import DeltaKind

KEEP_S = 1.0


class ChatVoice:
    """As an agent's voice, but what it says belongs to a conversation and stays."""

    def __init__(
        self,
        database: Store,
        events: EventLog,
        session_id: str,
        message_id: str,
        run_id: str,
        said: str,
        *,
        joint: str = "",
    ) -> None:
        """`said` is there already; the joint comes between it and the first word that follows."""
        self._database = database
        self._events = events
        self._stream = session_stream(session_id)
        self._message_id = message_id
        self._run_id = run_id
        self._joint = joint
        self._texts = {"text": said, "thinking": ""}
        self._told = {"text": len(said), "thinking": 0}
        self._whispered = 0.0
        self._kept = time.monotonic()

    @property
    def text(self) -> str:
        """All of the answer so far."""
        return whole_characters(self._texts["text"])

    async def say(self, kind: "DeltaKind", text: str) -> None:
        if kind == "text" and text:
            text, self._joint = self._joint + text, ""
        self._texts[kind] += text
        if time.monotonic() - self._whispered >= FLUSH_S:
            await self._whisper()
        if time.monotonic() - self._kept >= KEEP_S:
            await self.keep()

    async def pause(self) -> None:
        """Nothing more is said for a while: all of it is told and kept."""
        await self._whisper()
        await self.keep()

    async def _whisper(self) -> None:
        self._whispered = time.monotonic()
        for kind in ("thinking", "text"):
            whole = self._texts[kind]
            while (start := self._told[kind]) < len(whole):
                piece = whole[start : start + LONGEST_WHISPER]
                self._told[kind] += len(piece)
                delta = ChatDelta(
                    message_id=self._message_id, kind=kind, offset=start, text=whole_characters(piece)
                )
                await self._events.whisper(self._stream, delta)

    @survives_outage
    async def keep(self) -> None:
        self._kept = time.monotonic()
        async with self._database.begin() as tx:
            await store.change_message(
                tx, self._message_id, {MessageStatus.WRITING}, of_run=self._run_id, text=self.text
            )
