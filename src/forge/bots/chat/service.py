"""What people say to bots: ask, ask again, write on, stop."""

from contextlib import suppress
from dataclasses import dataclass, replace

from forge.bots.chat import store
from forge.bots.chat.aside import first_words
from forge.bots.chat.branches import read_message, read_session, session_stream
from forge.bots.chat.given import ChatInput
from forge.bots.chat.models import (
    AnswerFacts,
    ChatAnswered,
    ChatAsked,
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
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.chat.turn import KIND
from forge.bots.errors import BotBlocked
from forge.bots.memory.service import Memories
from forge.bots.models import Bot, BotStatus
from forge.bots.readiness import Readiness
from forge.bots.service import Bots
from forge.bots.telling import tell_changed
from forge.bots.versions.service import Versions
from forge.errors import Conflict, Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm.messages import StopReason
from forge.runs.service import Runs
from forge.store.engine import Store, Tx


@dataclass(frozen=True)
class Chats:
    database: Store
    events: EventLog
    runs: Runs
    bots: Bots
    versions: Versions
    readiness: Readiness
    memories: Memories
    settling: Settling
    quiet: Quiet

    async def ask(self, account_id: str, bot: Bot, new: NewTurn) -> Turn:
        """What cannot be answered is refused here, and nothing is kept of it: the person still has the text."""
        facts = await self._facts(account_id, bot)
        if new.session_id is not None:
            await self.settling.settle(new.session_id)
        standing = [] if new.session_id else [one.id for one in await self.memories.standing(bot.id)]
        async with self.database.begin() as tx:
            if new.session_id is None:
                await self._remember_others(tx, bot)
                session = await self._open(tx, account_id, bot, first_words(new.text), standing)
            else:
                session = await self._own(tx, account_id, new.session_id, bot.id)
            parent_id = await self._parent(tx, session, new.edits_id)
            question = _message(session, parent_id, Speaker.USER, new.text)
            await store.insert_message(tx, question)
            return await self._answer(tx, session, question, facts)

    async def retry(self, account_id: str, session_id: str, message_id: str | None) -> Turn:
        """Another answer beside the old one."""
        await self.settling.settle(session_id)
        async with self.database.read() as tx:
            session = await own_session(tx, account_id, session_id)
        facts = await self._facts(account_id, await self.bots.find(account_id, session.bot_id))
        async with self.database.begin() as tx:
            session = await self._own(tx, account_id, session_id, session.bot_id)
            old = await _find(tx, session, message_id or session.head_id)
            question = old if old.role is Speaker.USER else await _find(tx, session, old.parent_id)
            return await self._answer(tx, session, question, facts)

    async def resume(self, account_id: str, session_id: str) -> Turn:
        """Write on where the last answer ended before its time."""
        await self.settling.settle(session_id)
        async with self.database.read() as tx:
            session = await own_session(tx, account_id, session_id)
        await self._facts(account_id, await self.bots.find(account_id, session.bot_id))
        async with self.database.begin() as tx:
            session = await self._own(tx, account_id, session_id, session.bot_id)
            answer = await _find(tx, session, session.head_id)
            question = await _find(tx, session, answer.parent_id)
            _check_resumable(answer)
            given = _given(session, question, answer.id, said=answer.text)
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
            shown = await read_message(tx, row or answer)
            await self.events.append(tx, session_stream(session.id), ChatResumed(answer=shown))
            await tell_changed(tx, self.events, session.bot_id, "session")
            return Turn(
                session=await read_session(tx, session),
                question=await read_message(tx, question),
                answer=shown,
            )

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

    async def _facts(self, account_id: str, bot: Bot) -> AnswerFacts:
        """What the answer will be made with; raises when this bot cannot talk now."""
        if bot.status is not BotStatus.ACTIVE:
            raise BotBlocked(
                f"{bot.slug} is {bot.status.value}.",
                hint=f"Wake it: forge bots {'enable' if bot.status is BotStatus.DISABLED else 'unarchive'} {bot.slug}",
            )
        files = await self.versions.whole(bot)
        await self.readiness.check(account_id, bot.id, files.identity)
        return AnswerFacts(
            run_id="",
            temperature=files.identity.temperature,
            max_tokens=files.identity.max_tokens,
            soul_version=files.soul_version,
        )

    async def _open(self, tx: Tx, account_id: str, bot: Bot, title: str, standing: list[str]) -> SessionRow:
        at = now()
        row = SessionRow(
            id=new_id(),
            account_id=account_id,
            bot_id=bot.id,
            title=title,
            is_titled=False,
            head_id=None,
            standing=standing,
            remembered_id=None,
            created_at=at,
            updated_at=at,
        )
        await store.insert_session(tx, row)
        return row

    async def _remember_others(self, tx: Tx, bot: Bot) -> None:
        """Who begins a new conversation has left the last one."""
        for session in await store.list_sessions(tx, bot.id, before=None, limit=1):
            await self.quiet.remember(tx, session.id)

    async def _own(self, tx: Tx, account_id: str, session_id: str, bot_id: str) -> SessionRow:
        session = await own_session(tx, account_id, session_id, lock=True)
        if session.bot_id != bot_id:
            raise NotFound(f"There is no conversation {session_id} with this bot.")
        if await store.find_writing(tx, session_id):
            raise Conflict(
                "An answer is being written in this conversation.",
                hint="Wait for it, stop it, or begin another conversation.",
            )
        return session

    async def _parent(self, tx: Tx, session: SessionRow, edits_id: str | None) -> str | None:
        if edits_id is None:
            return session.head_id
        edited = await _find(tx, session, edits_id)
        if edited.role is not Speaker.USER:
            raise Invalid("Only what you said yourself can be said differently.", field="edits_id")
        return edited.parent_id

    async def _answer(self, tx: Tx, session: SessionRow, question: MessageRow, facts: AnswerFacts) -> Turn:
        """The empty answer, the run that fills it and the event that tells of both."""
        answer = _message(session, question.id, Speaker.ASSISTANT, "")
        given = _given(session, question, answer.id)
        run = await self.runs.start(tx, session.account_id, KIND, given.model_dump())
        answer = replace(
            answer,
            status=MessageStatus.WRITING,
            answer=facts.model_copy(update={"run_id": run.id}),
            run_id=run.id,
            finished_at=None,
        )
        await store.insert_message(tx, answer)
        values = {"head_id": answer.id, "updated_at": now()}
        session = await store.change_session(tx, session.id, **values) or session
        await store.touch_bot(tx, session.bot_id, now())
        asked = ChatAsked(question=await read_message(tx, question), answer=await read_message(tx, answer))
        await self.events.append(tx, session_stream(session.id), asked)
        await tell_changed(tx, self.events, session.bot_id, "session")
        return Turn(session=await read_session(tx, session), question=asked.question, answer=asked.answer)


async def _find(tx: Tx, session: SessionRow, message_id: str | None) -> MessageRow:
    row = await store.find_message(tx, message_id) if message_id else None
    if row is None or row.session_id != session.id:
        raise NotFound("There is no such message in this conversation.")
    return row


def _check_resumable(answer: MessageRow) -> None:
    was_cut = answer.answer is not None and answer.answer.stop is StopReason.LENGTH
    if answer.role is not Speaker.ASSISTANT or not (answer.status.can_resume or was_cut):
        raise Conflict("The last answer is whole: there is nothing to resume.", hint="Ask it to go on.")


def _given(session: SessionRow, question: MessageRow, answer_id: str, *, said: str = "") -> ChatInput:
    return ChatInput(
        bot_id=session.bot_id,
        session_id=session.id,
        question_id=question.id,
        answer_id=answer_id,
        title=session.title,
        said=said,
    )


def _message(session: SessionRow, parent_id: str | None, role: Speaker, text: str) -> MessageRow:
    at = now()
    return MessageRow(
        id=new_id(),
        session_id=session.id,
        parent_id=parent_id,
        role=role,
        text=text,
        status=MessageStatus.DONE,
        error=None,
        answer=None,
        run_id=None,
        tries=0,
        cost_micros=0,
        created_at=at,
        finished_at=at,
    )
