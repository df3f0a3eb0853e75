"""Which run a person means at the command line."""

from forge.runs.models import Run
from forge.terminal.choice import choose, is_id
from forge.terminal.client import Client

SEARCHED = 2000
"""How many of the newest runs the beginning of an id is looked for in."""


def find_run(client: Client, given: str) -> str:
    """The id of a run from its beginning."""
    if is_id(given):
        return given
    return choose(given, "run", client.pages("/runs", Run, SEARCHED), lambda run: run.id).id
