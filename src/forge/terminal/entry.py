"""The root of a command line: run a command, and end with what a shell understands."""

import sys

import click

from forge.errors import ForgeError
from forge.terminal.text import clean


def run_command(command: click.Command, name: str) -> None:
    """Whatever the command refuses to do is said in one or two lines, with the exit code of its kind."""
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
    sys.exit(code or 0)  # what `ctx.exit` was given; commands themselves return nothing


def show_error(error: ForgeError) -> None:
    for line in clean(error.message).splitlines():
        click.echo(f"{click.style('error:', fg='red', bold=True)} {line}", err=True)
    if error.hint:
        click.echo(f"{click.style(' hint:', fg='yellow')} {clean(error.hint)}", err=True)
