"""How bots look in a terminal."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.bots.models import BotStatus, BotView, FileProblem, Stats
from forge.kernel.clock import now
from forge.llm.dollars import dollars
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago, clean


def bots_table(bots: Iterable[BotView]) -> Table:
    rows = table("BOT", "NAME", "STATE", "MODEL", "LAST ACTIVE", "SPENT", wrapped={"NAME", "MODEL"})
    for bot in bots:
        active = ago(bot.last_active_at, now()) if bot.last_active_at else "never"
        spent = dollars(bot.spent_micros)
        rows.add_row(words(bot.slug), _name(bot), _state(bot), words(bot.model), active, spent)
    return rows


def bot_page(bot: BotView) -> RenderableType:
    identity = bot.identity
    pairs = [
        ("name", _name(bot)),
        ("slug", bot.slug),
        ("id", bot.id),
        ("state", _state(bot)),
        ("blocked", words(bot.blocked, "red") if bot.blocked and not bot.deleted_at else None),
        ("description", identity.description or None),
        ("category", identity.category.value),
        ("tags", ", ".join(identity.tags) or None),
        ("model", bot.model if identity.ref else f"{bot.model} (as chosen for bots)"),
        ("temperature", f"{identity.temperature:g}"),
        ("max tokens", f"{identity.max_tokens:,}"),
        ("memory", "on" if identity.memory else "off"),
        ("soul", f"version {bot.soul_version}"),
        ("talk", _talk(bot)),
        ("folder", bot.folder),
        ("created", ago(bot.created_at, now())),
    ]
    return Group(key_values(pairs), *(problem_line(problem) for problem in bot.problems))


def problem_line(problem: FileProblem) -> Text:
    """`● SOUL.md:4:7 what is wrong`, and what to do about it below."""
    shown = dot("warn" if problem.is_warning else "bad")
    place = ":".join(str(part) for part in (problem.file.file_name, problem.line, problem.column) if part)
    line = Text.assemble((shown.plain[:2], shown.style), (place, "bold"), " ", clean(problem.message))
    return line.append(f"\n  {clean(problem.hint)}", "bright_black") if problem.hint else line


def stats_page(stats: Stats) -> RenderableType:
    bots = f"{stats.total_bots} ({stats.active_bots} active, {stats.disabled_bots} disabled, "
    return key_values(
        [
            ("bots", f"{bots}{stats.archived_bots} archived)"),
            ("conversations", f"{stats.total_sessions:,}, {stats.active_sessions} being answered"),
            ("messages", f"{stats.total_messages:,}"),
            ("memories", f"{stats.total_memories:,}"),
            ("tokens", f"{stats.tokens:,}"),
            ("spent", dollars(stats.spent_micros)),
        ]
    )


def _name(bot: BotView) -> Text:
    one_line = " ".join(bot.identity.display_name.split())
    return words(f"{bot.identity.avatar} {one_line}")


def _state(bot: BotView) -> Text:
    if bot.deleted_at is not None:
        return words(f"● deleted {ago(bot.deleted_at, now())}", "bright_black")
    if bot.status is not BotStatus.ACTIVE:
        return dot(bot.status.value)
    if bot.blocked:
        return Text("● blocked", "red")
    return Text("● answering", "blue") if bot.answering else dot("active")


def _talk(bot: BotView) -> str:
    counts = f"{bot.sessions:,} conversations, {bot.messages:,} messages, {bot.tokens:,} tokens"
    return f"{counts}, {dollars(bot.spent_micros)}"
