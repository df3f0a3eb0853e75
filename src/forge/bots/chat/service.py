"""What people say to bots: ask, ask again, write on, stop."""

from contextlib import suppress
from dataclasses import dataclass

from forge.bots.chat import store
from forge.bots.chat.asking import Answering, Asked, Asking, Readied, find_in, given_for
from forge.bots.chat.branches import read_message, read_turn, session_stream
from forge.bots.chat.models import (
    ChatAnswered,
    ChatResumed,
    Message,
    MessageStatus,
    NewTurn,
    Speaker,
    Turn,
)
from forge.bots.chat.quiet import Quiet
from forge.bots.chat.sessions import own_session
from forge.bots.chat.settling import Settling
from forge.bots.chat.store import MessageRow
from forge.bots.chat.turn import KIND
from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.bots.telling import tell_changed
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.messages import StopReason
from forge.runs.service import Runs
from forge.store.engine import Store


@dataclass(frozen=True)
class Chats:
    database: Store
    events: EventLog
    runs: Runs
    bots: Bots
    asking: Asking
    settling: Settling
    quiet: Quiet

    async def ask(self, account_id: str, bot: Bot, new: NewTurn) -> Turn:
        """What cannot be answered is refused here, and nothing is kept of it: the person still has the text."""
        readied = await self.asking.ready(account_id, bot, begins=new.session_id is None)
        asked = Asked(new.text, session_id=new.session_id, edits_id=new.edits_id)
        try:
            return await self._put(readied, asked)
        except Answering:  # or so it looks: its run may have ended without it
            await self.settling.settle(new.session_id or "")
            return await self._put(readied, asked)

    async def _put(self, readied: Readied, asked: Asked) -> Turn:
        async with self.database.begin() as tx:
            return await self.asking.put(tx, readied, asked)

    async def retry(self, account_id: str, session_id: str, message_id: str | None) -> Turn:
        """Another answer beside the old one."""
        await self.settling.settle(session_id)
        async with self.database.read() as tx:
            session = await own_session(tx, account_id, session_id)
        bot = await self.bots.find(account_id, session.bot_id)
        readied = await self.asking.ready(account_id, bot, begins=False)
        async with self.database.begin() as tx:
            session = await self.asking.own(tx, account_id, session_id, session.bot_id)
            old = await find_in(tx, session, message_id or session.head_id)
            question = old if old.role is Speaker.USER else await find_in(tx, session, old.parent_id)
            return await self.asking.answer(tx, session, question, readied)

    async def resume(self, account_id: str, session_id: str) -> Turn:
        """Write on where the last answer ended before its time."""
        await self.settling.settle(session_id)
        async with self.database.read() as tx:
            session = await own_session(tx, account_id, session_id)
        await self.asking.ready(account_id, await self.bots.find(account_id, session.bot_id), begins=False)
        async with self.database.begin() as tx:
            session = await self.asking.own(tx, account_id, session_id, session.bot_id)
            answer = await find_in(tx, session, session.head_id)
            question = await find_in(tx, session, answer.parent_id)
            _check_resumable(answer)
            given = given_for(session, question, answer.id, said=answer.text)
            run = await self.runs.start(tx, account_id, KIND, given.model_dump())
            row = await store.change_message(
                tx,
                answer.id,
                {answer.status},
                status=MessageStatus.WRITING.value,
                error=None,
                run_id=run.id,
                tries=0,
                finished_at=None,
            )
            turn = await read_turn(tx, session, question, row or answer)
            await self.events.append(tx, session_stream(session.id), ChatResumed(answer=turn.answer))
            await tell_changed(tx, self.events, session.bot_id, "session")
            return turn

    async def stop(self, account_id: str, session_id: str, *, by: str) -> Message:
        """It counts as stopped at once; its last words follow when the model has let go."""
        await self.settling.settle(session_id)
        async with self.database.begin() as tx:
            session = await own_session(tx, account_id, session_id, lock=True)
            writing = await store.find_writing(tx, session.id)
            if not writing:
                raise Conflict("No answer is being written.")
            row = await store.change_message(
                tx,
                writing[0].id,
                {MessageStatus.WRITING},
                status=MessageStatus.STOPPED.value,
                finished_at=now(),
            )
            shown = await read_message(tx, row or writing[0])
            await self.events.append(tx, session_stream(session.id), ChatAnswered(answer=shown))
            await tell_changed(tx, self.events, session.bot_id, "session")
        if writing[0].run_id is not None:
            with suppress(Conflict, NotFound):  # it has ended meanwhile
                await self.runs.cancel(account_id, writing[0].run_id, by=by)
        return shown

    async def remember(self, account_id: str, session_id: str) -> None:
        async with self.database.begin() as tx:
            session = await own_session(tx, account_id, session_id)
            await self.quiet.remember(tx, session.id)


def _check_resumable(answer: MessageRow) -> None:
    was_cut = answer.answer is not None and answer.answer.stop is StopReason.LENGTH
    if answer.role is not Speaker.ASSISTANT or not (answer.status.can_resume or was_cut):
        raise Conflict("The last answer is whole: there is nothing to resume.", hint="Ask it to go on.")
