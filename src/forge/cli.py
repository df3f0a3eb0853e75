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
    "serve": ("forge.server.cli:serve", "Start Forge: web app, API and runs."),
    "worker": ("forge.server.cli:worker", "Execute runs without serving HTTP (PostgreSQL only)."),
    "status": ("forge.server.cli:status", "Show the status of the running server."),
    "doctor": ("forge.server.doctor:doctor", "Check this machine and explain how to fix each problem."),
    "backup": ("forge.backup.cli:backup", "Back up the database and all files to one file."),
    "restore": ("forge.backup.cli:restore", "Restore a backup into an empty data directory."),
    "login": ("forge.accounts.cli:login", "Save an API key for a server, or print a login link."),
    "keys": ("forge.accounts.cli:keys", "Create, list and revoke API keys."),
    "secrets": ("forge.accounts.cli:secrets", "Save, list and remove secrets."),
    "members": ("forge.accounts.cli:members", "Invite, list and remove the members of this server."),
    "github": ("forge.github.cli:github", "Connect Forge to GitHub."),
    "models": ("forge.llm.cli:models", "Configure models, providers, prices and budgets."),
    "new": ("forge.interview.cli.create:new", "Create or change a bot in an interview."),
    "skill": (
        "forge.skills.cli.library:skill",
        "Create, install, run and test skills; attach them to bots.",
    ),
    "drafts": ("forge.interview.cli.manage:drafts", "List and delete unfinished interviews."),
    "interview": (
        "forge.interview.cli.manage:interview",
        "Show and replay interviews, and manage what Forge remembers from them.",
    ),
    "bots": ("forge.bots.cli:bots", "Create, change, export and delete bots."),
    "chat": ("forge.bots.chat.terminal.cli:chat", "Chat with a bot."),
    "workflow": (
        "forge.workflows.cli.definitions:workflow",
        "Create, run and watch workflows.",
    ),
    "message": (
        "forge.messages.cli:message",
        "Send messages to bots and channels, and read their messages.",
    ),
    "agents": (
        "forge.agents.cli:agents",
        "Give agents tasks in a workspace and watch them.",
    ),
    "audit": (
        "forge.audits.cli.audit:audit",
        "Audit a project: scope, boundaries, dependencies, secrets.",
    ),
    "runs": ("forge.runs.cli:runs", "List, start, watch and cancel runs."),
    "gates": ("forge.runs.cli:gates", "List and answer questions that wait for a person."),
    "workspaces": ("forge.workspace.cli:workspaces", "Create, browse and remove workspaces."),
    "mcp": (
        "forge.bots.mcp.cli:mcp",
        "Serve a workspace's tools and bots to MCP clients.",
    ),
    "demo": ("forge.tour.cli:demo", "Demonstrate Forge offline, without an API key."),
    "completion": ("forge.server.cli:completion", "Print the completion script of your shell."),
    "version": ("forge.server.cli:version", "Print the version."),
}


def _load(target: str) -> click.Command:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _load_bot() -> click.Group:
    """Return `forge bots` with `forge new` as its `create` command."""
    bots, new = _load(COMMANDS["bots"][0]), _load(COMMANDS["new"][0])
    listed = dict(bots.commands) if isinstance(bots, click.Group) else dict[str, click.Command]()
    return click.Group("bot", listed | {"create": new}, help="Same as `forge bots`; create is `forge new`.")


class SkillGroup(click.Group):
    """The group `forge skill`. Interviews are only imported for its command `create`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "create"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "create":
            return _load("forge.interview.cli.create:create_skill")
        return super().get_command(ctx, cmd_name)


def _load_skill() -> click.Group:
    skill = _load(COMMANDS["skill"][0])
    listed = skill.commands if isinstance(skill, click.Group) else dict[str, click.Command]()
    return SkillGroup("skill", listed, help=skill.help)


MERGED: dict[str, Callable[[], click.Command]] = {"skill": _load_skill}
"""Groups with commands from several packages."""

ALIASES: dict[str, Callable[[], click.Command]] = {
    "build-bot": lambda: _load(COMMANDS["new"][0]),
    "bot": _load_bot,
    "workflows": lambda: _load(COMMANDS["workflow"][0]),
}
"""Alternative names, which are not listed."""


class LazyGroup(click.Group):
    """Lists commands by name and summary, and imports only the one that is called."""

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
        """Complete command names without importing the commands, which would take too long."""
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
