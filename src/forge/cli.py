"""The `forge` command. Only the tree of commands is here; each command's code is imported when it is called."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from forge import __version__
from forge.terminal.entry import run_command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("forge.server.cli:serve", "Start Forge: the web app, the API and the runs."),
    "worker": ("forge.server.cli:worker", "Execute runs without serving (PostgreSQL only)."),
    "status": ("forge.server.cli:status", "Show how the running server is doing."),
    "doctor": ("forge.server.doctor:doctor", "Check this machine and say what to do about each problem."),
    "backup": ("forge.backup.cli:backup", "Write everything Forge remembers into one file."),
    "restore": ("forge.backup.cli:restore", "Put a backup back, into an empty data directory."),
    "login": ("forge.accounts.cli:login", "Connect this terminal to a server, or make a login link."),
    "keys": ("forge.accounts.cli:keys", "Create, list and revoke API keys."),
    "secrets": ("forge.accounts.cli:secrets", "Save, list and remove secrets."),
    "models": ("forge.llm.cli:models", "Choose models, their providers, prices and budgets."),
    "new": ("forge.interview.cli:new", "Talk to Forge and get a bot, or change one."),
    "skill": (
        "forge.skills.cli.library:skill",
        "Make, install, grant, run and test skills; give them to bots.",
    ),
    "drafts": ("forge.interview.drafts_cli:drafts", "List interviews that are not finished; delete them."),
    "interview": (
        "forge.interview.drafts_cli:interview",
        "Show interviews, replay them, see what is remembered.",
    ),
    "bots": ("forge.bots.cli:bots", "Make bots, change them, carry them around."),
    "chat": ("forge.bots.chat.cli:chat", "Talk to a bot."),
    "workflow": (
        "forge.workflows.cli.definitions:workflow",
        "Chain bots, skills, code and requests; run and watch them.",
    ),
    "message": (
        "forge.messages.cli:message",
        "Write to bots and channels; read what bots write to each other.",
    ),
    "agents": ("forge.agents.cli:agents", "Give an agent a task in a workspace, watch it, talk to it."),
    "audit": ("forge.audits.cli:audit", "Audit a project: scope, proof, boundaries, dependencies, secrets."),
    "runs": ("forge.runs.cli:runs", "List, start, watch and cancel runs."),
    "gates": ("forge.runs.cli:gates", "See and answer what waits for you."),
    "workspaces": ("forge.workspace.cli:workspaces", "Make workspaces and look into them."),
    "mcp": (
        "forge.bots.mcp.cli:mcp",
        "Serve a workspace's tools and the bots to Claude Code, Codex and others.",
    ),
    "demo": ("forge.tour.cli:demo", "Walk through all of Forge by itself, without a key."),
    "completion": ("forge.server.cli:completion", "Print the completion script of your shell."),
    "version": ("forge.server.cli:version", "Print the version."),
}


def _load(place: str) -> click.Command:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def _load_bot() -> click.Group:
    """`forge bots`, but `create` talks."""
    bots, new = _load(COMMANDS["bots"][0]), _load(COMMANDS["new"][0])
    listed = dict(bots.commands) if isinstance(bots, click.Group) else dict[str, click.Command]()
    return click.Group("bot", listed | {"create": new}, help="As `forge bots`; create is `forge new`.")


class SkillGroup(click.Group):
    """`forge skill`. Only `create` talks, and only it waits for what that takes to be imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "create"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "create":
            return _load("forge.interview.cli:create_skill")
        return super().get_command(ctx, cmd_name)


def _load_skill() -> click.Group:
    skill = _load(COMMANDS["skill"][0])
    listed = skill.commands if isinstance(skill, click.Group) else dict[str, click.Command]()
    return SkillGroup("skill", listed, help=skill.help)


MERGED: dict[str, Callable[[], click.Command]] = {"skill": _load_skill}
"""Those whose commands lie in several places."""

ALIASES: dict[str, Callable[[], click.Command]] = {
    "build-bot": lambda: _load(COMMANDS["new"][0]),
    "bot": _load_bot,
    "workflows": lambda: _load(COMMANDS["workflow"][0]),
}
"""Other names people know; not listed."""


class LazyGroup(click.Group):
    """Knows its commands by name and one line; imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if made := (MERGED | ALIASES).get(cmd_name):
            return made()
        return _load(COMMANDS[cmd_name][0]) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Without importing a single command: somebody waits at the tab key."""
        from click.shell_completion import CompletionItem

        named = [(name, line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=line) for name, line in named]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, message="forge %(version)s")
def forge() -> None:
    """Turns a conversation into working software, and keeps it honest."""


def main() -> None:
    run_command(forge, "forge")
