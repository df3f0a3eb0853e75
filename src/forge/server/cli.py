"""`forge serve`, `forge worker`, `forge status`, `forge version` and `forge completion`."""

from pathlib import Path

import click

from forge import __version__
from forge.terminal.options import json_option

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.option("--host", help="Address to listen on (default 127.0.0.1).")
@click.option("--port", type=int, help="Port to listen on (default 8000; 0 for any free port).")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Data directory (default ~/.forge).")
def serve(host: str | None, port: int | None, data_dir: Path | None) -> None:
    """Start Forge: web app, API and runs. Ctrl-C stops it."""
    click.echo("Forge is starting …")  # at once, because the imports below take a while
    from forge.config import load_settings
    from forge.server.serve import run_server

    run_server(load_settings(host=host, port=port, data_dir=data_dir))


@click.command()
@click.option("--data-dir", type=click.Path(path_type=Path), help="Data directory (default ~/.forge).")
def worker(data_dir: Path | None) -> None:
    """Execute runs without serving HTTP. Requires PostgreSQL (FORGE_DATABASE_URL)."""
    from forge.config import load_settings
    from forge.server.serve import run_worker

    run_worker(load_settings(data_dir=data_dir))


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Show the status of the running server. Exit code 3 if none is running."""
    from forge.server.overview import fetch_overview, overview_page
    from forge.terminal.output import print_result

    print_result(fetch_overview(), overview_page, as_json=as_json)


@click.command()
@json_option
def version(as_json: bool) -> None:
    """Print the version of this command. `forge status` shows the server's."""
    import platform

    data = {"version": __version__, "python": platform.python_version(), "platform": platform.platform()}
    if as_json:
        from forge.terminal.output import print_json

        print_json(data)
    else:
        click.echo(f"forge {__version__} (Python {data['python']}, {data['platform']})")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.pass_context
def completion(ctx: click.Context, shell: str | None) -> None:
    """Print the completion script of SHELL: bash, zsh or fish (default: your shell).

    To enable it in every terminal, add this to ~/.bashrc (or ~/.zshrc):

        eval "$(forge completion bash)"

    and for fish:

        forge completion fish > ~/.config/fish/completions/forge.fish
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    click.echo(kinds[shell or _own_shell()](ctx.find_root().command, {}, "forge", "_FORGE_COMPLETE").source())


def _own_shell() -> str:
    from forge.config import environment

    name = Path(environment().get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"Cannot detect your shell. Choose one: {', '.join(SHELLS)}.")
    return name
