"""Ask, retry, resume and stop answers, for people."""

from contextlib import suppress
from dataclasses import dataclass

from forge.bots.chat import store
from forge.bots.chat.branches import read_message, read_turn, session_stream
from forge.bots.chat.maintenance import IdleSessions, StaleAnswers
from forge.bots.chat.models import ChatAnswered, ChatResumed, Message, NewTurn, Speaker, Turn
from forge.bots.chat.questions import (
    AnswerInProgress,
    NewQuestion,
    Questions,
    ReadyBot,
    chat_input,
    find_in_session,
)
from forge.bots.chat.run_inputs import CHAT
from forge.bots.chat.sessions import find_own_session
from forge.bots.chat.store import MessageRow
from forge.bots.management.service import Bots
from forge.bots.models import Bot, MessageStatus
from forge.bots.notifications import notify_changed
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.messages import StopReason
from forge.runs.service import Runs
from forge.store.database import Store


@dataclass(frozen=True)
class Chats:
    database: Store
    events: EventLog
    runs: Runs
    bots: Bots
    questions: Questions
    stale_answers: StaleAnswers
    idle_sessions: IdleSessions

    async def ask(self, account_id: str, bot: Bot, new: NewTurn) -> Turn:
        """Ask a question. If the bot cannot answer, the question is rejected and not stored."""
        ready = await self.questions.check_ready(account_id, bot, begins=new.session_id is None)
        new_question = NewQuestion(new.text, session_id=new.session_id, edits_id=new.edits_id)
        try:
            return await self._put(ready, new_question)
        except AnswerInProgress:  # or so it looks: its run may have ended without it
            await self.stale_answers.end(new.session_id or "")
            return await self._put(ready, new_question)

    async def _put(self, ready: ReadyBot, new_question: NewQuestion) -> Turn:
        async with self.database.begin() as tx:
            return await self.questions.ask(tx, ready, new_question)

    async def retry(self, account_id: str, session_id: str, message_id: str | None) -> Turn:
        """Generate another answer as a sibling of the old one."""
        await self.stale_answers.end(session_id)
        async with self.database.read() as tx:
            session = await find_own_session(tx, account_id, session_id)
        bot = await self.bots.find(account_id, session.bot_id)
        ready = await self.questions.check_ready(account_id, bot, begins=False)
        async with self.database.begin() as tx:
            session = await self.questions.lock_idle_session(tx, account_id, session_id, session.bot_id)
            old = await find_in_session(tx, session, message_id or session.head_id)
            question = old if old.role is Speaker.USER else await find_in_session(tx, session, old.parent_id)
            return await self.questions.start_answer(tx, session, question, ready)

    async def resume(self, account_id: str, session_id: str) -> Turn:
        """Continue the last answer where it was stopped or interrupted."""
        await self.stale_answers.end(session_id)
        async with self.database.read() as tx:
            session = await find_own_session(tx, account_id, session_id)
        await self.questions.check_ready(
            account_id, await self.bots.find(account_id, session.bot_id), begins=False
        )
        async with self.database.begin() as tx:
            session = await self.questions.lock_idle_session(tx, account_id, session_id, session.bot_id)
            answer = await find_in_session(tx, session, session.head_id)
            question = await find_in_session(tx, session, answer.parent_id)
            _check_resumable(answer)
            inputs = chat_input(session, question, answer.id, said=answer.text)
            run = await self.runs.start(tx, account_id, CHAT, inputs.model_dump())
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
            await notify_changed(tx, self.events, session.bot_id, "session")
            return turn

    async def stop(self, account_id: str, session_id: str, *, by: str) -> Message:
        """Stop the current answer. Its last words are saved when the model call is cancelled."""
        await self.stale_answers.end(session_id)
        async with self.database.begin() as tx:
            session = await find_own_session(tx, account_id, session_id, lock=True)
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
            await notify_changed(tx, self.events, session.bot_id, "session")
        if writing[0].run_id is not None:
            with suppress(Conflict, NotFound):  # it has just ended
                await self.runs.cancel(account_id, writing[0].run_id, by=by)
        return shown

    async def extract_facts(self, account_id: str, session_id: str) -> None:
        async with self.database.begin() as tx:
            session = await find_own_session(tx, account_id, session_id)
            await self.idle_sessions.extract_facts(tx, session.id)


def _check_resumable(answer: MessageRow) -> None:
    was_cut = answer.answer is not None and answer.answer.stop is StopReason.LENGTH
    if answer.role is not Speaker.ASSISTANT or not (answer.status.can_resume or was_cut):
        raise Conflict(
            "The last answer is complete: there is nothing to resume.", hint="Ask the bot to continue."
        )
