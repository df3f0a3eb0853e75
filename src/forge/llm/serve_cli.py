"""`forge models serve`: the scripted model server, for people who want to look around without a key."""

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from forge.demo.script import Script

READY = """\
A scripted model server is at {url}
It answers from {source} ({scenes}). No model is asked, and nothing leaves this machine.

To let it answer in Forge, in another terminal:

    forge models demo --url {url}

Other clients: ANTHROPIC_BASE_URL={url} or OPENAI_BASE_URL={url}/v1, with {key}.
What was asked is at {url}/_script/requests. Ctrl-C stops it.
"""


@click.command()
@click.argument("script", default="demo")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8010, help="Port (default 8010; 0: a free one)."
)
@click.option(
    "--log", type=click.Path(path_type=Path), help="Append every request to this file, as JSON lines."
)
@click.option("--check", is_flag=True, help="Only say whether the script is right.")
def serve(script: str, port: int, log: Path | None, check: bool) -> None:
    """Start a model server that answers from SCRIPT: a file, or one that comes with Forge (demo, coding, faults)."""
    from forge.demo.parsing import find_script, load_script

    path = find_script(script)
    loaded = load_script(path)
    if check:
        click.echo(f"{path} is right: {_scenes(loaded)}.")
        return
    _serve(loaded, script, port, log)


def _serve(script: "Script", source: str, port: int, log: Path | None) -> None:
    from forge.demo.serving import open_model_server
    from forge.errors import ConfigError

    try:
        if log is not None:
            log.touch(mode=0o600)  # what it has is for its user alone
        with open_model_server(script, port=port, log=log) as server:
            key = "a key that the script names" if script.keys else "any key"
            click.echo(READY.format(url=server.url, source=source, scenes=_scenes(script), key=key))
            _wait_for_signal()
    except OSError as error:
        raise ConfigError(
            [f"cannot start: {error}"], hint="Choose another one with --port or --log."
        ) from error


def _wait_for_signal() -> None:
    stop = threading.Event()

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask_to_stop)
    stop.wait()


def _scenes(script: "Script") -> str:
    names = [*script.scenes, "default"]
    return f"{'scene' if len(names) == 1 else 'scenes'} {', '.join(names)}"
