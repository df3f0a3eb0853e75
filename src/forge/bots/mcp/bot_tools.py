"""MCP tools for the bots of a running server: list bots, chat with them, read and add memories.

Every call connects to the server again, so that new and archived bots are up to date and a restarted server is found.
Without a running server there are no tools.
"""

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from typing import Any

from mcp import types
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.bots.chat.models import Id, Message, MessageText, Turn
from forge.bots.chat.terminal.answer_stream import AnswerStream, AnswerView
from forge.bots.mcp.server import ReportProgress, error_result, text_result
from forge.bots.memory.models import Fact, Match, Memory, MemoryCategory
from forge.bots.models import BotStatus, BotView, MessageStatus
from forge.config import ClientSettings
from forge.errors import ForgeError, NotFound, Unauthenticated, Unavailable
from forge.kernel.text import truncate_line
from forge.kernel.validation import first_problem
from forge.llm.models import MICROS
from forge.terminal.client import connect

MAX_LINE = 500
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_JOINER = "\N{ZERO WIDTH JOINER}"
"""Joins emoji, so it must be kept."""


def visible_line(text: str, longest: int = MAX_LINE) -> str:
    """Return one line without invisible characters: control characters, direction marks, tags."""
    seen = "".join(" " if _is_hidden(character) else character for character in text)
    return truncate_line(seen, longest)


def _is_hidden(character: str) -> bool:
    return character != _JOINER and unicodedata.category(character) in _HIDDEN


PROGRESS_INTERVAL_S = 0.5
TAIL = 200
"""Characters of the answer sent with a progress report."""


class AnswerProgress(AnswerView):
    """The text of an answer so far, written by one thread and read by another."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


class ToolConversation:
    def __init__(self, settings: ClientSettings, slug: str) -> None:
        self._settings = settings
        self._slug = slug

    async def ask(
        self, message: str, session_id: str | None, report_progress: ReportProgress
    ) -> types.CallToolResult:
        turn = await asyncio.to_thread(self._begin, message, session_id)
        progress = AnswerProgress()
        answering = asyncio.create_task(asyncio.to_thread(self._wait, turn, progress))
        try:
            reported = 0
            while not answering.done():
                await asyncio.wait({answering}, timeout=PROGRESS_INTERVAL_S)
                if len(progress.text) > reported:
                    reported = len(progress.text)
                    await report_progress(reported, visible_line(progress.text[-TAIL:], TAIL))
            return _result(answering.result())
        except asyncio.CancelledError:
            answering.cancel()
            # The client does not want it any more: a cancelled task can begin to say so, but not wait for it.
            asyncio.get_running_loop().run_in_executor(None, self._stop, turn.session.id)
            raise

    def _begin(self, message: str, session_id: str | None) -> Turn:
        with connect(self._settings) as client:
            return client.post(f"/bots/{self._slug}/chat", Turn, {"text": message, "session_id": session_id})

    def _wait(self, turn: Turn, progress: AnswerProgress) -> Message:
        with connect(self._settings) as client, closing(AnswerStream(client, turn.session.id)) as stream:
            return stream.wait_for(turn.answer, progress)

    def _stop(self, session_id: str) -> None:
        with suppress(ForgeError), connect(self._settings) as client:
            client.post(f"/sessions/{session_id}/stop", Message)


def _result(answer: Message) -> types.CallToolResult:
    session = f"session_id: {answer.session_id}"
    if answer.status in (MessageStatus.FAILED, MessageStatus.INTERRUPTED):
        why = f"{answer.error.message} {answer.error.hint or ''}" if answer.error else "It was interrupted."
        return error_result(f"Error: {why}".rstrip(), *([answer.text] if answer.text else []), session)
    facts = {
        "session_id": answer.session_id,
        "answer": answer.text,
        "status": answer.status.value,
        "model": answer.answer.model if answer.answer else "",
        "cost_usd": answer.answer.cost_micros / MICROS if answer.answer else 0,
    }
    return text_result(answer.text, session, structured=facts)


LIST = "list_bots"
CHAT, RECALL, ADD = "chat_with_", "get_memories_", "add_memory_"


class NoArguments(BaseModel):
    """Arguments of a tool without arguments."""

    model_config = ConfigDict(extra="forbid")


class ChatArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    message: MessageText
    session_id: Id | None = Field(
        default=None, description="Of an answer before: goes on with that conversation."
    )


class RecallArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(
        default="", max_length=2000, description="What it should be about; the newest without it."
    )
    limit: int = Field(default=20, ge=1, le=50)


Use = Callable[[str, dict[str, Any], ReportProgress], Awaitable[types.CallToolResult]]


class AddArguments(BaseModel):
    """Arguments to add a fact. Only people can pin memories."""

    model_config = ConfigDict(extra="forbid")

    fact: Fact
    category: MemoryCategory = MemoryCategory.FACT


class BotTools:
    def __init__(self, settings: ClientSettings, slugs: frozenset[str]) -> None:
        self._settings = settings
        self._slugs = slugs

    async def tools(self) -> list[types.Tool]:
        try:
            bots = await asyncio.to_thread(self._bots)
        except (Unavailable, Unauthenticated):
            return []
        return [_list_tool(), *(tool for bot in bots for tool in _tools_of(bot))]

    async def call(
        self, name: str, arguments: dict[str, Any], report_progress: ReportProgress
    ) -> types.CallToolResult | None:
        found = self._find(name)
        if found is None:
            return None
        use, slug = found
        try:
            return await use(slug, arguments, report_progress)
        except ValidationError as error:
            return error_result(f"Error: The arguments do not fit: {first_problem(error)}")
        except ForgeError as error:
            return error_result(f"Error: {error.message} {error.hint or ''}".rstrip())

    def _find(self, name: str) -> tuple[Use, str] | None:
        if name == LIST:
            return self._list, ""
        for beginning, use in ((CHAT, self._chat), (RECALL, self._recall), (ADD, self._add)):
            if name.startswith(beginning):
                return use, name.removeprefix(beginning)
        return None

    async def _list(self, _: str, arguments: dict[str, Any], __: ReportProgress) -> types.CallToolResult:
        NoArguments.model_validate(arguments)
        bots = [
            {
                "slug": bot.slug,
                "name": visible_line(bot.identity.display_name, 200),
                "description": visible_line(bot.identity.description),
                "chat_tool": f"{CHAT}{bot.slug}",
                "blocked": bot.blocked and visible_line(bot.blocked),
            }
            for bot in await asyncio.to_thread(self._bots)
        ]
        lines = [f"{bot['slug']}: {bot['name']}. {bot['description']}".rstrip() for bot in bots]
        return text_result("\n".join(lines) or "There are no bots.", structured={"bots": bots})

    async def _chat(
        self, slug: str, arguments: dict[str, Any], report_progress: ReportProgress
    ) -> types.CallToolResult:
        asked = ChatArguments.model_validate(arguments)
        await self._check(slug)
        return await ToolConversation(self._settings, slug).ask(
            asked.message, asked.session_id, report_progress
        )

    async def _recall(self, slug: str, arguments: dict[str, Any], _: ReportProgress) -> types.CallToolResult:
        asked = RecallArguments.model_validate(arguments)
        await self._check(slug)
        found = await asyncio.to_thread(self._memories, slug, asked)
        facts = [
            {"id": one.id, "fact": one.fact, "category": one.category.value, "importance": one.importance}
            for one in found
        ]
        lines = [f"- {one.fact}" for one in found]
        return text_result("\n".join(lines) or "It remembers nothing.", structured={"memories": facts})

    async def _add(self, slug: str, arguments: dict[str, Any], _: ReportProgress) -> types.CallToolResult:
        new = AddArguments.model_validate(arguments)
        await self._check(slug)

        def add() -> Memory:
            with connect(self._settings) as client:
                return client.post(f"/bots/{slug}/memories", Memory, new.model_dump(mode="json"))

        made = await asyncio.to_thread(add)
        return text_result(f"Remembered: {made.fact}", structured={"id": made.id, "fact": made.fact})

    async def _check(self, slug: str) -> None:
        """Reject bots that are not listed as tools."""
        if slug not in {bot.slug for bot in await asyncio.to_thread(self._bots)}:
            raise NotFound(f"There is no bot {slug[:100]!r}.", hint=f"See who there is: {LIST}")

    def _bots(self) -> list[BotView]:
        with connect(self._settings) as client:
            found = client.get("/bots", list[BotView], {"status": [BotStatus.ACTIVE.value], "sort": "name"})
        return [bot for bot in found if not self._slugs or bot.slug in self._slugs]

    def _memories(self, slug: str, asked: RecallArguments) -> list[Memory]:
        with connect(self._settings) as client:
            if asked.query.strip():
                wanted = {"q": asked.query, "limit": asked.limit}
                matches = client.get(f"/bots/{slug}/memories/recall", list[Match], wanted)
                return [match.memory for match in matches]
            return list(client.pages(f"/bots/{slug}/memories", Memory, asked.limit))


def _list_tool() -> types.Tool:
    return types.Tool(
        name=LIST,
        description="List the bots of this Forge server that can be talked to.",
        input_schema=_schema(NoArguments),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _tools_of(bot: BotView) -> list[types.Tool]:
    name, about = visible_line(bot.identity.display_name, 100), visible_line(bot.identity.description)
    who = f'the bot "{name}" ({bot.slug})'
    described = f' It is described as: "{about}"' if about else ""
    chat = f"Talk to {who}. The answer comes with a session_id: pass it to go on with the conversation."
    return [
        types.Tool(
            name=f"{CHAT}{bot.slug}",
            description=f"{chat}{described}",
            input_schema=_schema(ChatArguments),
            annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=False),
        ),
        types.Tool(
            name=f"{RECALL}{bot.slug}",
            description=f"What {who} remembers.",
            input_schema=_schema(RecallArguments),
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
        ),
        types.Tool(
            name=f"{ADD}{bot.slug}",
            description=f"Give {who} a fact to remember.",
            input_schema=_schema(AddArguments),
            annotations=types.ToolAnnotations(
                read_only_hint=False, destructive_hint=False, open_world_hint=False
            ),
        ),
    ]


def _schema(shape: type[BaseModel]) -> dict[str, Any]:
    schema = shape.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    return schema
