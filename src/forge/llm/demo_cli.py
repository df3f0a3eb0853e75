"""`forge models demo`: the scripted model server of `forge demo` for every role that nobody has chosen a model for."""

import click

from forge.errors import Unavailable
from forge.llm.models import ModelsView, Price, ProviderView, Role, RoleChoice, TestResult
from forge.terminal.client import Client, connect
from forge.terminal.output import console
from forge.terminal.text import clean

PROVIDER = "demo"
REF = f"{PROVIDER}:scripted"
URL = "http://127.0.0.1:8010"


@click.command()
@click.option("--url", default=URL, help=f"Where `forge demo` said that it is (default {URL}).")
@click.option("--off", is_flag=True, help="Go back to the default models.")
def demo(url: str, off: bool) -> None:
    """Let the scripted model of `forge demo` answer, to look around without a key."""
    with connect() as client:
        roles = client.get("/models", ModelsView).roles
        if off:
            _turn_off(client, roles)
        else:
            _turn_on(client, url, roles)


def _turn_on(client: Client, url: str, roles: list[RoleChoice]) -> None:
    """What a person has chosen stays."""
    free = [choice.role for choice in roles if choice.source == "default" or choice.chain == [REF]]
    client.put(f"/models/providers/{PROVIDER}", ProviderView, {"kind": "anthropic", "base_url": url})
    client.put("/models/prices", Price, {"input": 0, "output": 0, "context_window": 200_000}, {"model": REF})
    found = client.post("/models/test", TestResult, {"model": REF})
    if not found.ok:
        raise Unavailable(
            f"The demo model does not answer at {clean(url)}: {found.message}",
            hint="Start it in another terminal: forge demo. If it says another address, name it with --url.",
        )
    for role in free:
        client.put(f"/models/roles/{role.value}", RoleChoice, {"chain": [REF]})
    console().print(f"{REF} answers for: {_names(free)}. Back to real models: forge models demo --off")
    if kept := [choice.role for choice in roles if choice.role not in free]:
        console().print(f"Left as you chose: {_names(kept)}.")


def _turn_off(client: Client, roles: list[RoleChoice]) -> None:
    used = [choice.role for choice in roles if choice.chain == [REF]]
    for role in used:
        client.delete(f"/models/roles/{role.value}", RoleChoice)
    console().print(f"Back to the default models: {_names(used) or 'nothing had to change'}.")


def _names(roles: list[Role]) -> str:
    return ", ".join(role.value for role in roles)
