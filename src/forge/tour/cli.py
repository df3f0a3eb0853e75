"""`forge demo`."""

from pathlib import Path

import click


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port of its server (default 0: a free one)."
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where it keeps what it makes: a new or empty folder, or that of an earlier demo. Without it, a temporary one.",
)
@click.option(
    "--keep/--no-keep",
    default=None,
    help="Keep the folder in the end. Without either one that was named is kept, and a temporary one removed.",
)
@click.option("--exit", "leaves", is_flag=True, help="End after the walk instead of leaving the server up.")
def demo(port: int, data_dir: Path | None, keep: bool | None, leaves: bool) -> None:
    """Walk through all of Forge: a bot, a skill, an audit, an agent, a workflow, and a kill -9 in the middle.

    A server of its own, a folder of its own, no key, no network. The model's words come from a script; all else is real.
    """
    from forge.tour.demo_run import run_demo

    run_demo(data_dir, port=port, keep=keep, keep_running=not leaves)
