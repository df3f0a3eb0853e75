"""`forge mcp`."""

from pathlib import Path

import click


@click.command()
@click.option(
    "--workspace", help="A workspace of the running server, by its name or the beginning of its id."
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Any directory of this machine; needs no server. The current one when nothing is given.",
)
def mcp(workspace: str | None, directory: Path | None) -> None:
    """Serve a workspace's tools to Claude Code, Codex and other MCP clients, over standard input and output."""
    import asyncio

    from forge.agents.mcp_server import serve
    from forge.config import load_settings
    from forge.sandbox.models import Level

    if workspace and directory:
        raise click.UsageError("--workspace and --dir exclude each other.")
    # Clients start this in the project, and what comes with a project does not loosen its sandbox: no `.env`.
    settings = load_settings(_env_file=())
    root = _find(workspace) if workspace else _check(directory or Path.cwd(), settings.data_dir)
    asyncio.run(serve(root, Level(settings.sandbox_required)))


def _find(workspace: str) -> Path:
    from forge.errors import NotFound
    from forge.terminal.client import connect
    from forge.workspace.choice import find_workspace
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
