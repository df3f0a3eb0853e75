"""Which run a person means at the command line."""

from forge.terminal.choice import find_id
from forge.terminal.client import Client


def find_run(client: Client, given: str) -> str:
    """The id of a run from its beginning."""
    return find_id(client, given, "run", "/runs")
