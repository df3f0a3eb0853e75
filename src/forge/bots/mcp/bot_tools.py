"""Bots of the running server as tools: who there is, talk to one, what it remembers.

Every call asks the server anew, so bots that are made or archived later are right, and a server that starts later is
found. While none runs there are no tools.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import types
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.bots.chat.models import Id, MessageText
from forge.bots.mcp.conversation import Conversation
from forge.bots.mcp.plain import plain
from forge.bots.mcp.providers import Tell, failed, text_result
from forge.bots.memory.models import Fact, Match, Memory, MemoryCategory
from forge.bots.models import BotStatus, BotView
from forge.config import ClientSettings
from forge.errors import ForgeError, NotFound, Unauthenticated, Unavailable
from forge.kernel.misfit import first_misfit
from forge.terminal.client import connect

LIST = "list_bots"
CHAT, RECALL, ADD = "chat_with_", "get_memories_", "add_memory_"


class NoArguments(BaseModel):
    """For a tool that takes none."""

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


Use = Callable[[str, dict[str, Any], Tell], Awaitable[types.CallToolResult]]


class AddArguments(BaseModel):
    """Another program may add a fact; that it goes along with every question is for a person to say."""

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

    async def call(self, name: str, arguments: dict[str, Any], tell: Tell) -> types.CallToolResult | None:
        found = self._find(name)
        if found is None:
            return None
        use, slug = found
        try:
            return await use(slug, arguments, tell)
        except ValidationError as error:
            return failed(f"Error: The arguments do not fit: {first_misfit(error)}")
        except ForgeError as error:
            return failed(f"Error: {error.message} {error.hint or ''}".rstrip())

    def _find(self, name: str) -> tuple[Use, str] | None:
        if name == LIST:
            return self._list, ""
        for beginning, use in ((CHAT, self._chat), (RECALL, self._recall), (ADD, self._add)):
            if name.startswith(beginning):
                return use, name.removeprefix(beginning)
        return None

    async def _list(self, _: str, arguments: dict[str, Any], __: Tell) -> types.CallToolResult:
        NoArguments.model_validate(arguments)
        bots = [
            {
                "slug": bot.slug,
                "name": plain(bot.identity.display_name, 200),
                "description": plain(bot.identity.description),
                "chat_tool": f"{CHAT}{bot.slug}",
                "blocked": bot.blocked and plain(bot.blocked),
            }
            for bot in await asyncio.to_thread(self._bots)
        ]
        lines = [f"{bot['slug']}: {bot['name']}. {bot['description']}".rstrip() for bot in bots]
        return text_result("\n".join(lines) or "There are no bots.", structured={"bots": bots})

    async def _chat(self, slug: str, arguments: dict[str, Any], tell: Tell) -> types.CallToolResult:
        asked = ChatArguments.model_validate(arguments)
        await self._check(slug)
        return await Conversation(self._settings, slug).ask(asked.message, asked.session_id, tell)

    async def _recall(self, slug: str, arguments: dict[str, Any], _: Tell) -> types.CallToolResult:
        asked = RecallArguments.model_validate(arguments)
        await self._check(slug)
        found = await asyncio.to_thread(self._memories, slug, asked)
        facts = [
            {"id": one.id, "fact": one.fact, "category": one.category.value, "importance": one.importance}
            for one in found
        ]
        lines = [f"- {one.fact}" for one in found]
        return text_result("\n".join(lines) or "It remembers nothing.", structured={"memories": facts})

    async def _add(self, slug: str, arguments: dict[str, Any], _: Tell) -> types.CallToolResult:
        new = AddArguments.model_validate(arguments)
        await self._check(slug)

        def add() -> Memory:
            with connect(self._settings) as client:
                return client.post(f"/bots/{slug}/memories", Memory, new.model_dump(mode="json"))

        made = await asyncio.to_thread(add)
        return text_result(f"Remembered: {made.fact}", structured={"id": made.id, "fact": made.fact})

    async def _check(self, slug: str) -> None:
        """Those that are not offered cannot be called either."""
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
    name, about = plain(bot.identity.display_name, 100), plain(bot.identity.description)
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
