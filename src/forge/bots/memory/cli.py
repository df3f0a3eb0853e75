"""`forge bots memories`."""

from typing import Any

import click
from rich.table import Table

from forge.bots.lookup import find_bot
from forge.bots.memory.models import (
    MAX_MEMORIES,
    Forgotten,
    Match,
    Memory,
    MemoryCategory,
    RecallWay,
)
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.lookup import choose, is_id
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import Columns, print_json, print_result
from forge.terminal.text import clean

CATEGORIES = click.Choice([category.value for category in MemoryCategory])
IMPORTANCE = click.IntRange(1, 5)

_memories_table = Columns[Memory](
    {
        "FACT": lambda memory: f"📌 {memory.fact}" if memory.is_pinned else memory.fact,
        "CATEGORY": "category",
        "IMPORTANCE": "importance",
        "AUTHOR": "author",
        "AGE": "created_at",
        "ID": "id",
    },
    wrap={"FACT"},
)
_matches_table = Columns[Match](
    {
        "SCORE": lambda match: f"{match.score:.2f}",
        "FACT": lambda match: match.memory.fact,
        "ID": lambda match: match.memory.id,
    },
    wrap={"FACT"},
)


def _memory_row(memory: Memory) -> Table:
    return _memories_table([memory])


@click.group()
def memories() -> None:
    """List, add, change and delete a bot's memories."""


@memories.command("list")
@click.argument("bot")
@click.option("--category", type=CATEGORIES, help="Only this category.")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_MEMORIES),
    default=50,
    show_default=True,
    help="Maximum number of memories, newest first.",
)
@api_command
def list_memories(client: Client, bot: str, category: str | None, limit: int) -> Result[list[Memory]]:
    """List the memories of BOT."""
    found = list(client.pages(_path(client, bot), Memory, limit, {"category": category}))
    return Result(found, _memories_table, empty="No memories found.")


@memories.command()
@click.argument("bot")
@click.argument("fact")
@click.option("--category", type=CATEGORIES, default="fact", show_default=True, help="Category.")
@click.option("--importance", type=IMPORTANCE, default=3, show_default=True, help="Importance, 1 to 5.")
@click.option("--pin", is_flag=True, help="Include it with every question.")
@api_command
def add(client: Client, bot: str, fact: str, category: str, importance: int, pin: bool) -> Result[Memory]:
    """Add FACT to the memories of BOT."""
    body = {"fact": fact, "category": category, "importance": importance, "is_pinned": pin}
    return Result(client.post(_path(client, bot), Memory, body), _memory_row)


@memories.command()
@click.argument("bot")
@click.argument("memory")
@click.option("--fact", help="New text of the memory.")
@click.option("--category", type=CATEGORIES, help="Category.")
@click.option("--importance", type=IMPORTANCE, help="Importance, 1 to 5.")
@api_command
def change(client: Client, bot: str, memory: str, **options: Any) -> Result[Memory]:
    """Change a memory, given by its id or id prefix."""
    body = {name: value for name, value in options.items() if value is not None}
    if not body:
        raise click.UsageError("Nothing to change: pass --fact, --category or --importance.")
    return _change(client, bot, memory, body)


@memories.command()
@click.argument("bot")
@click.argument("memory")
@api_command
def pin(client: Client, bot: str, memory: str) -> Result[Memory]:
    """Include a memory with every question."""
    return _change(client, bot, memory, {"is_pinned": True})


@memories.command()
@click.argument("bot")
@click.argument("memory")
@api_command
def unpin(client: Client, bot: str, memory: str) -> Result[Memory]:
    """Include a memory only when it is relevant."""
    return _change(client, bot, memory, {"is_pinned": False})


@memories.command()
@click.argument("bot")
@click.argument("memory", required=False)
@click.option("--all", "every", is_flag=True, help="Delete all memories.")
@yes_option
@api_command
def forget(client: Client, bot: str, memory: str | None, every: bool, yes: bool) -> Result[Any]:
    """Delete a memory of BOT permanently, or --all of them."""
    if (memory is None) is not every:
        raise click.UsageError("Pass either a memory or --all.")
    if memory is not None:
        forgotten = client.delete(_find(client, bot, memory), Memory)
        return Result(forgotten, f"Forgotten: {forgotten.fact}")
    confirm(f"Delete all memories of {clean(bot)}?", yes=yes)
    count = client.delete(_path(client, bot), Forgotten)
    return Result(count, f"Memories deleted: {count.memories}.")


@memories.command()
@click.argument("bot")
@click.argument("question")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Maximum number of results."
)
@json_option
def recall(bot: str, question: str, limit: int, as_json: bool) -> None:
    """Show the memories that would be included with QUESTION, best match first."""
    with connect() as client:
        found = client.get(f"{_path(client, bot)}/recall", list[Match], {"q": question, "limit": limit})
        way = client.get("/memories/way", RecallWay)
    if as_json:
        print_json(found)
        return
    print_result(
        found, _matches_table, as_json=False, empty="No memory matches. Pinned memories are always included."
    )
    click.echo(" ".join(filter(None, (f"Searched by {way.by}.", way.hint))), err=True)


def _change(client: Client, bot: str, memory: str, body: dict[str, Any]) -> Result[Memory]:
    return Result(client.patch(_find(client, bot, memory), Memory, body), _memory_row)


def _path(client: Client, bot: str) -> str:
    return f"/bots/{find_bot(client, bot).id}/memories"


def _find(client: Client, bot: str, ref: str) -> str:
    path = _path(client, bot)
    if is_id(ref):
        return f"{path}/{ref}"
    known = client.pages(path, Memory, MAX_MEMORIES)
    listed_by = f"bots memories list {clean(bot)}"
    found = choose(ref, "memory", known, lambda one: one.id, many="memories", listed_by=listed_by)
    return f"{path}/{found.id}"
