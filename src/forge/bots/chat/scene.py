"""Everything one question is asked with: the bot's files, its memories, the branch above the question."""

from collections.abc import Sequence
from dataclasses import dataclass

from forge.bots.chat import store
from forge.bots.chat.branches import find_summary
from forge.bots.chat.models import Speaker, Summary
from forge.bots.chat.prompt import SUMMARY, Knowledge, question, system_prompt
from forge.bots.chat.skill_use import told
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.memory.models import Memory
from forge.bots.memory.service import Memories
from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.bots.shelf import Shelf
from forge.bots.versions.service import Versions
from forge.bots.versions.whole import BotFiles
from forge.errors import NotFound
from forge.llm.messages import AssistantMessage, Message, Text, UserMessage, said
from forge.skills.catalogue import CatalogueLine
from forge.skills.quoting import quoted
from forge.store.engine import Store

LAST_ANSWER = "your answer before this question"


@dataclass(frozen=True)
class Branch:
    """A conversation down to the question that is asked."""

    session: SessionRow
    rows: list[MessageRow]
    summary: Summary | None

    @property
    def question(self) -> MessageRow:
        return self.rows[-1]

    @property
    def unsummarised(self) -> list[MessageRow]:
        """What is sent word by word."""
        if self.summary is None:
            return self.rows
        covered = next(i for i, row in enumerate(self.rows) if row.id == self.summary.upto_id)
        return self.rows[covered + 1 :]


@dataclass(frozen=True)
class Scene:
    database: Store
    bots: Bots
    versions: Versions
    memories: Memories
    shelf: Shelf

    async def branch(self, session_id: str, question_id: str) -> Branch:
        async with self.database.read() as tx:
            session = await store.find_session(tx, session_id)
            if session is None:
                raise NotFound("This conversation was deleted.")
            rows = await store.list_branch(tx, session_id, question_id)
            return Branch(session, rows, await find_summary(tx, session_id, rows))

    async def skills(self, account_id: str, files: BotFiles) -> list[CatalogueLine]:
        """What it can take up, a line for each."""
        offers = await self.shelf.offers(account_id, files.skills)
        return [CatalogueLine(one.seen.name, one.description, one.seen.kind) for one in offers]

    async def system(
        self, bot: Bot, session: SessionRow, skills: Sequence[CatalogueLine], files: BotFiles | None = None
    ) -> str:
        files = files or await self.versions.whole(bot)
        standing = await self.memories.by_ids(bot.id, session.standing)
        return system_prompt(Knowledge(files, standing, skills, session.created_at, session.origin))

    async def history(self, bot_id: str, branch: Branch) -> list[Message]:
        """What came before the question; the question itself is the agent's directive."""
        rows = branch.unsummarised[:-1]
        known = await self._recalled(bot_id, rows)
        begin: list[Message] = []
        if branch.summary is not None:
            begin.append(said(SUMMARY.format(text=quoted(branch.summary.text)), pinned=True))
        return begin + messages_of(rows, known)

    async def directive(self, bot_id: str, branch: Branch, recalled: Sequence[str]) -> str:
        memories = await self.memories.by_ids(bot_id, list(recalled))
        return question(branch.question.text, memories, _used_before(branch.rows, len(branch.rows) - 1))

    async def _recalled(self, bot_id: str, rows: Sequence[MessageRow]) -> dict[str, Memory]:
        """What went along with earlier questions, as it is known now: what was forgotten does not come back."""
        ids = [one.id for row in rows if row.answer for one in row.answer.recalled]
        found = await self.memories.by_ids(bot_id, list(dict.fromkeys(ids))) if ids else []
        return {memory.id: memory for memory in found}


def messages_of(rows: Sequence[MessageRow], known: dict[str, Memory]) -> list[Message]:
    """Questions with what was recalled for the answer that follows them. An answer without a word is no message."""
    found: list[Message] = []
    for i, row in enumerate(rows):
        if row.role is Speaker.ASSISTANT:
            if row.text.strip():
                found.append(AssistantMessage(parts=[Text(text=row.text)]))
            continue
        answer = rows[i + 1].answer if i + 1 < len(rows) else None
        recalled = [known[one.id] for one in answer.recalled if one.id in known] if answer else []
        found.append(said(question(row.text, recalled, _used_before(rows, i))))
    return found


def _used_before(rows: Sequence[MessageRow], place: int) -> str:
    """With the question that follows, so that what was sent once stays as it was."""
    answer = rows[place - 1].answer if place else None
    return told(answer.skills_used, LAST_ANSWER) if answer else ""


def resumed(history: list[Message], asked: str, partial: str) -> list[Message]:
    """With the question and what there is of its answer, so that it can be asked to go on."""
    return [*history, UserMessage(parts=[Text(text=asked)]), AssistantMessage(parts=[Text(text=partial)])]
