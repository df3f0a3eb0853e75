"""A question on its way to a bot: what needs files and keys is seen to first, then it is put, in the transaction of
whoever asks. People, workflows and other bots all come this way."""

from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from forge.bots.chat import store
from forge.bots.chat.aside import first_words
from forge.bots.chat.branches import read_session, read_turn, session_stream
from forge.bots.chat.given import ChatInput
from forge.bots.chat.models import (
    AnswerFacts,
    ChatAsked,
    ChatChanged,
    MessageStatus,
    Origin,
    Speaker,
    Turn,
)
from forge.bots.chat.sessions import own_session
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.chat.turn import KIND
from forge.bots.errors import BotBlocked
from forge.bots.memory.service import Memories
from forge.bots.models import Bot, BotStatus
from forge.bots.readiness import Readiness
from forge.bots.telling import tell_changed
from forge.bots.versions.service import Versions
from forge.errors import Conflict, Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.runs.service import Runs
from forge.store.engine import Tx


class Answering(Conflict):
    """An answer is being written in this conversation, by the run `run_id`."""

    def __init__(self, run_id: str | None) -> None:
        super().__init__(
            "An answer is being written in this conversation.",
            hint="Wait for it, stop it, or begin another conversation.",
        )
        self.run_id = run_id


class Readied(BaseModel):
    """A bot that can answer now, and what it would answer with."""

    model_config = ConfigDict(frozen=True)

    account_id: str
    bot_id: str
    facts: AnswerFacts
    standing: list[str]
    model: str | None = None
    """Instead of the one the bot has."""


@dataclass(frozen=True)
class Asked:
    """What is said, and where."""

    text: str
    session_id: str | None = None
    """Without it a new conversation begins."""
    edits_id: str | None = None
    after_id: str | None = None
    """Behind this message; without it behind the last one."""
    origin: Origin | None = None
    title: str = ""
    """Of a conversation that begins; without it a model thinks of one."""
    opens: bool = False
    """Begin the conversation with this id, if there is none."""
    parent_run_id: str | None = None
    """A run the answer ends with."""


class RememberLast(Protocol):
    async def __call__(self, tx: Tx, session_id: str) -> bool: ...


@dataclass(frozen=True)
class Asking:
    events: EventLog
    runs: Runs
    versions: Versions
    readiness: Readiness
    memories: Memories
    remember: RememberLast

    async def ready(
        self, account_id: str, bot: Bot, *, model: str | None = None, begins: bool = True
    ) -> Readied:
        """Raises when this bot cannot talk now. `begins`: it may be the first question of a conversation."""
        if bot.status is not BotStatus.ACTIVE:
            raise BotBlocked(
                f"{bot.slug} is {bot.status.value}.",
                hint=f"Wake it: forge bots {'enable' if bot.status is BotStatus.DISABLED else 'unarchive'} {bot.slug}",
            )
        files = await self.versions.whole(bot)
        await self.readiness.check(account_id, bot.id, files.identity, model=model)
        facts = AnswerFacts(
            run_id="",
            temperature=files.identity.temperature,
            max_tokens=files.identity.max_tokens,
            soul_version=files.soul_version,
        )
        standing = [one.id for one in await self.memories.standing(bot.id)] if begins else []
        return Readied(account_id=account_id, bot_id=bot.id, facts=facts, standing=standing, model=model)

    async def put(self, tx: Tx, readied: Readied, asked: Asked) -> Turn:
        """The question, its empty answer and the run that fills it."""
        session = await self._session(tx, readied, asked)
        parent_id = asked.after_id or await _parent(tx, session, asked.edits_id)
        question = _message(session, parent_id, Speaker.USER, asked.text)
        await store.insert_message(tx, question)
        return await self.answer(tx, session, question, readied, parent_run_id=asked.parent_run_id)

    async def note(self, tx: Tx, readied: Readied, asked: Asked) -> str:
        """Said without asking for an answer: the bot knows it when it is asked the next time. The conversation's id."""
        session = await self._session(tx, readied, asked)
        said = _message(session, session.head_id, Speaker.USER, asked.text)
        await store.insert_message(tx, said)
        session = await store.change_session(tx, session.id, head_id=said.id, updated_at=now()) or session
        told = ChatChanged(session=await read_session(tx, session))
        await self.events.append(tx, session_stream(session.id), told)
        await tell_changed(tx, self.events, session.bot_id, "session")
        return session.id

    async def answer(
        self,
        tx: Tx,
        session: SessionRow,
        question: MessageRow,
        readied: Readied,
        *,
        parent_run_id: str | None = None,
    ) -> Turn:
        """Another answer to a question that was put; the conversation is locked."""
        answer = _message(session, question.id, Speaker.ASSISTANT, "")
        given = given_for(session, question, answer.id, model=readied.model)
        run = await self.runs.start(tx, session.account_id, KIND, given.model_dump(), parent_id=parent_run_id)
        answer = replace(
            answer,
            status=MessageStatus.WRITING,
            answer=readied.facts.model_copy(update={"run_id": run.id}),
            run_id=run.id,
            finished_at=None,
        )
        await store.insert_message(tx, answer)
        values = {"head_id": answer.id, "updated_at": now()}
        session = await store.change_session(tx, session.id, **values) or session
        await store.touch_bot(tx, session.bot_id, now())
        turn = await read_turn(tx, session, question, answer)
        told = ChatAsked(question=turn.question, answer=turn.answer)
        await self.events.append(tx, session_stream(session.id), told)
        await tell_changed(tx, self.events, session.bot_id, "session")
        return turn

    async def own(self, tx: Tx, account_id: str, session_id: str, bot_id: str) -> SessionRow:
        """Locked, and nobody writes in it."""
        session = await own_session(tx, account_id, session_id, lock=True)
        if session.bot_id != bot_id:
            raise NotFound(f"There is no conversation {session_id} with this bot.")
        if writing := await store.find_writing(tx, session_id):
            raise Answering(writing[0].run_id)
        return session

    async def _session(self, tx: Tx, readied: Readied, asked: Asked) -> SessionRow:
        begins = asked.session_id is None or asked.opens
        if begins and (opened := await self._open(tx, readied, asked)):
            return opened
        return await self.own(tx, readied.account_id, asked.session_id or "", readied.bot_id)

    async def _open(self, tx: Tx, readied: Readied, asked: Asked) -> SessionRow | None:
        """None when there is one with this id."""
        if asked.session_id is None:
            await self._remember_others(tx, readied.bot_id)
        at = now()
        row = SessionRow(
            id=asked.session_id or new_id(),
            account_id=readied.account_id,
            bot_id=readied.bot_id,
            title=asked.title or first_words(asked.text),
            is_titled=bool(asked.title),
            head_id=None,
            standing=readied.standing,
            remembered_id=None,
            created_at=at,
            updated_at=at,
            origin=asked.origin,
        )
        return row if await store.insert_session(tx, row) else None

    async def _remember_others(self, tx: Tx, bot_id: str) -> None:
        """Who begins a new conversation has left the last one."""
        for session in await store.list_sessions(tx, bot_id, cursor=None, limit=1):
            await self.remember(tx, session.id)


async def find_in(tx: Tx, session: SessionRow, message_id: str | None) -> MessageRow:
    row = await store.find_message(tx, message_id) if message_id else None
    if row is None or row.session_id != session.id:
        raise NotFound("There is no such message in this conversation.")
    return row


def given_for(
    session: SessionRow, question: MessageRow, answer_id: str, *, said: str = "", model: str | None = None
) -> ChatInput:
    return ChatInput(
        bot_id=session.bot_id,
        session_id=session.id,
        question_id=question.id,
        answer_id=answer_id,
        title=session.title,
        said=said,
        model=model,
    )


async def _parent(tx: Tx, session: SessionRow, edits_id: str | None) -> str | None:
    if edits_id is None:
        return session.head_id
    edited = await find_in(tx, session, edits_id)
    if edited.role is not Speaker.USER:
        raise Invalid("Only what you said yourself can be said differently.", field="edits_id")
    return edited.parent_id


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
