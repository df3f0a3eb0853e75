"""`forge demo`."""

from pathlib import Path

import click


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of the demo server (default 0: any free port).",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for the data: new, empty, or from an earlier demo. Default: a temporary one.",
)
@click.option(
    "--keep/--no-keep",
    default=None,
    help="Keep the directory afterwards. Default: a temporary one is removed.",
)
@click.option(
    "--exit", "leaves", is_flag=True, help="Exit after the demo instead of leaving the server running."
)
def demo(port: int, data_dir: Path | None, keep: bool | None, leaves: bool) -> None:
    """Demonstrate Forge: a bot, a skill, an audit, an agent, a workflow, and recovery from kill -9.

    Runs a separate server in a separate directory, offline and without an API key. Only the answers of the model are scripted.
    """
    from forge.tour.demo_run import run_demo

    run_demo(data_dir, port=port, keep=keep, keep_running=not leaves)
