"""`forge mcp`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from contextlib import ExitStack

    from forge.bots.mcp.server import ToolProvider
    from forge.config import Settings


@click.command()
@click.option("--workspace", help="Workspace on the running server, by name or id prefix.")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Directory on this machine; needs no server. Default: the current directory.",
)
@click.option(
    "--only", type=click.Choice(["files", "bots"]), help="Serve only the directory's tools, or only the bots."
)
@click.option("--bot", "bots", multiple=True, metavar="SLUG", help="Serve only this bot. Repeatable.")
def mcp(workspace: str | None, directory: Path | None, only: str | None, bots: tuple[str, ...]) -> None:
    """Serve the tools of a workspace, and the bots of the running server, to MCP clients over standard input and
    output.
    """
    import asyncio
    from contextlib import ExitStack

    from forge.bots.mcp.server import serve
    from forge.config import load_settings

    if workspace and directory:
        raise click.UsageError("--workspace and --dir exclude each other.")
    if only == "bots" and (workspace or directory):
        raise click.UsageError("--only bots serves no directory: leave out --workspace and --dir.")
    if only == "files" and bots:
        raise click.UsageError("--only files serves no bots: leave out --bot.")
    # Clients start this in the project, and what comes with a project does not loosen its sandbox: no `.env`.
    settings = load_settings(_env_file=())
    with ExitStack() as stack:
        providers: list[ToolProvider] = []
        if only != "bots":
            root = _find(workspace) if workspace else _check(directory or Path.cwd(), settings.data_dir)
            providers.append(_workspace_tools(stack, root, settings))
        if only != "files":
            providers.append(_bot_tools(settings, bots))
        asyncio.run(serve(providers))


def _workspace_tools(stack: "ExitStack", root: Path, settings: "Settings") -> "ToolProvider":
    from forge.agents.tool import ToolContext
    from forge.agents.tools.toolset import builder_tools
    from forge.bots.mcp.server import WorkspaceTools
    from forge.sandbox.models import Level
    from forge.sandbox.sandboxes import Sandboxes
    from forge.workspace.filesystem.files import Files

    files = stack.enter_context(Files(root))
    sandboxes = Sandboxes(Level(settings.sandbox_required), hidden=(settings.data_dir,))
    return WorkspaceTools(builder_tools(), ToolContext(files, sandboxes))


def _bot_tools(settings: "Settings", slugs: tuple[str, ...]) -> "ToolProvider":
    from forge.bots.mcp.bot_tools import BotTools
    from forge.config import ClientSettings

    return BotTools(ClientSettings(data_dir=settings.data_dir), frozenset(slugs))


def _find(workspace: str) -> Path:
    from forge.errors import NotFound
    from forge.terminal.client import connect
    from forge.workspace.lookup import find_workspace
    from forge.workspace.models import WorkspaceInfo

    with connect() as client:
        found = client.get(f"/workspaces/{find_workspace(client, workspace)}", WorkspaceInfo)
    if not Path(found.path).is_dir():
        raise NotFound(
            f"The workspace {found.name!r} is not on this machine: there is no {found.path}.",
            hint="Run this command on the machine of the server, as the user it runs as.",
        )
    return Path(found.path)


def _check(directory: Path, data_dir: Path) -> Path:
    from forge.workspace.adoption import check_adoptable

    return check_adoptable(directory.expanduser().absolute(), data_dir)
