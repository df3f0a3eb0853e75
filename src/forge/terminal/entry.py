"""Run a command line and exit with the code of its outcome."""

import signal
import sys
import threading
from types import FrameType

import click

from forge.errors import ForgeError
from forge.terminal.text import clean


def run_command(command: click.Command, name: str) -> None:
    """Print an error in one or two lines, and exit with the code of its kind."""
    try:
        code = command.main(prog_name=name, standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ForgeError as error:
        show_error(error)
        sys.exit(error.exit_code)
    sys.exit(code or 0)  # the argument of `ctx.exit`; commands return None


def show_error(error: ForgeError) -> None:
    for line in clean(error.message).splitlines():
        click.echo(f"{click.style('error:', fg='red', bold=True)} {line}", err=True)
    if error.hint:
        click.echo(f"{click.style(' hint:', fg='yellow')} {clean(error.hint)}", err=True)


def wait_for_signal() -> None:
    """Wait until the process is asked to stop, by Ctrl-C or SIGTERM."""
    stop = threading.Event()

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask_to_stop)
    stop.wait()
