"""`forge bots memories`."""

from collections.abc import Sequence
from typing import Any

import click

from forge.bots.choice import find_bot
from forge.bots.memory.models import (
    MAX_MEMORIES,
    Forgotten,
    Match,
    Memory,
    MemoryCategory,
    RecallWay,
)
from forge.kernel.clock import now
from forge.terminal.asking import be_sure
from forge.terminal.choice import choose, is_id
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json, table, words
from forge.terminal.text import ago, clean

CATEGORIES = click.Choice([category.value for category in MemoryCategory])
IMPORTANCE = click.IntRange(1, 5)


@click.group()
def memories() -> None:
    """See what a bot remembers; add to it, change it, let it forget."""


@memories.command("list")
@click.argument("bot")
@click.option("--category", type=CATEGORIES, help="Only these.")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_MEMORIES),
    default=50,
    show_default=True,
    help="How many at most, newest first.",
)
@json_option
def list_memories(bot: str, category: str | None, limit: int, as_json: bool) -> None:
    """List what BOT remembers."""
    with connect() as client:
        found = list(client.pages(_where(client, bot), Memory, limit, {"category": category}))
    if as_json:
        print_json(found)
    elif not found:
        click.echo("It remembers nothing of the kind.", err=True)
    else:
        console().print(_table(found))


@memories.command()
@click.argument("bot")
@click.argument("fact")
@click.option("--category", type=CATEGORIES, default="fact", show_default=True, help="What kind it is.")
@click.option("--importance", type=IMPORTANCE, default=3, show_default=True, help="1 to 5.")
@click.option("--pin", is_flag=True, help="It goes along with every question.")
@json_option
def add(bot: str, fact: str, category: str, importance: int, pin: bool, as_json: bool) -> None:
    """Let BOT remember FACT."""
    body = {"fact": fact, "category": category, "importance": importance, "is_pinned": pin}
    with connect() as client:
        added = client.post(_where(client, bot), Memory, body)
    _print(added, as_json=as_json)


@memories.command()
@click.argument("bot")
@click.argument("memory")
@click.option("--fact", help="What it says instead.")
@click.option("--category", type=CATEGORIES, help="What kind it is.")
@click.option("--importance", type=IMPORTANCE, help="1 to 5.")
@json_option
def change(bot: str, memory: str, as_json: bool, **given: Any) -> None:
    """Change a MEMORY, named by its id or the beginning of it."""
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("Say what to change: --fact, --category or --importance.")
    _change(bot, memory, body, as_json=as_json)


@memories.command()
@click.argument("bot")
@click.argument("memory")
@json_option
def pin(bot: str, memory: str, as_json: bool) -> None:
    """Let a MEMORY go along with every question."""
    _change(bot, memory, {"is_pinned": True}, as_json=as_json)


@memories.command()
@click.argument("bot")
@click.argument("memory")
@json_option
def unpin(bot: str, memory: str, as_json: bool) -> None:
    """Let a MEMORY go along only when it fits."""
    _change(bot, memory, {"is_pinned": False}, as_json=as_json)


@memories.command()
@click.argument("bot")
@click.argument("memory", required=False)
@click.option("--all", "every", is_flag=True, help="Everything it remembers.")
@yes_option
@json_option
def forget(bot: str, memory: str | None, every: bool, yes: bool, as_json: bool) -> None:
    """Let BOT forget a MEMORY for good, or --all of them."""
    if (memory is None) is not every:
        raise click.UsageError("Name a memory, or say --all.")
    with connect() as client:
        if memory is not None:
            forgotten: Memory | Forgotten = client.delete(_find(client, bot, memory), Memory)
        else:
            if not yes:
                be_sure(f"Let {clean(bot)} forget everything?")
            forgotten = client.delete(_where(client, bot), Forgotten)
    if as_json:
        print_json(forgotten)
    elif isinstance(forgotten, Memory):
        click.echo(f"Forgotten: {clean(forgotten.fact)}")
    else:
        click.echo(f"Forgotten: {forgotten.memories}.")


@memories.command()
@click.argument("bot")
@click.argument("question")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="How many at most.")
@json_option
def recall(bot: str, question: str, limit: int, as_json: bool) -> None:
    """Show what would go along with a QUESTION, best first."""
    with connect() as client:
        found = client.get(f"{_where(client, bot)}/recall", list[Match], {"q": question, "limit": limit})
        way = client.get("/memories/way", RecallWay)
    if as_json:
        print_json(found)
        return
    rows = table("SCORE", "FACT", "ID", wrapped={"FACT"})
    for match in found:
        rows.add_row(f"{match.score:.2f}", words(match.memory.fact), words(match.memory.id))
    if found:
        console().print(rows)
    else:
        click.echo("Nothing fits. Pinned memories go along all the same.", err=True)
    click.echo(" ".join(filter(None, (f"Found by {way.by}.", way.hint))), err=True)


def _change(bot: str, memory: str, body: dict[str, Any], *, as_json: bool) -> None:
    with connect() as client:
        changed = client.patch(_find(client, bot, memory), Memory, body)
    _print(changed, as_json=as_json)


def _where(client: Client, bot: str) -> str:
    return f"/bots/{find_bot(client, bot).id}/memories"


def _find(client: Client, bot: str, given: str) -> str:
    where = _where(client, bot)
    if is_id(given):
        return f"{where}/{given}"
    known = client.pages(where, Memory, MAX_MEMORIES)
    listed_by = f"bots memories list {clean(bot)}"
    found = choose(given, "memory", known, lambda one: one.id, many="memories", listed_by=listed_by)
    return f"{where}/{found.id}"


def _print(memory: Memory, *, as_json: bool) -> None:
    if as_json:
        print_json(memory)
    else:
        console().print(_table([memory]))


def _table(found: Sequence[Memory]) -> object:
    rows = table("FACT", "KIND", "WEIGHT", "FROM", "AGE", "ID", wrapped={"FACT"})
    for one in found:
        fact = f"📌 {one.fact}" if one.is_pinned else one.fact
        rows.add_row(
            words(fact),
            one.category.value,
            str(one.importance),
            one.author,
            ago(one.created_at, now()),
            words(one.id),
        )
    return rows
