"""`forge models demo`: the scripted model server for every role that nobody has chosen a model for."""

import click

from forge.llm.models import RoleChoice
from forge.llm.stand_in import REF, stand_down, stand_in
from forge.terminal.client import connect
from forge.terminal.output import console

URL = "http://127.0.0.1:8010"


@click.command()
@click.option("--url", default=URL, help=f"Where `forge models serve` said that it is (default {URL}).")
@click.option("--off", is_flag=True, help="Go back to the default models.")
def demo(url: str, off: bool) -> None:
    """Let the scripted model of `forge models serve` answer, to look around without a key."""
    with connect() as client:
        if off:
            used = _names(stand_down(client)) or "nothing had to change"
            console().print(f"Back to the default models: {used}.")
            return
        free, kept = stand_in(client, url)
    console().print(f"{REF} answers for: {_names(free)}. Back to real models: forge models demo --off")
    if kept:
        console().print(f"Left as you chose: {_names(kept)}.")


def _names(roles: list[RoleChoice]) -> str:
    return ", ".join(choice.role.value for choice in roles)
