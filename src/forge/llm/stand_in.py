"""Lets the scripted model server answer for every role that nobody has chosen a model for."""

from forge.errors import Unavailable
from forge.llm.models import ModelsView, Price, ProviderView, RoleChoice, TestResult
from forge.terminal.client import Client
from forge.terminal.output import working
from forge.terminal.text import clean

PROVIDER = "demo"
REF = f"{PROVIDER}:scripted"
TEST_S = 90.0
"""Longer than the server waits for a model."""
FREE = {"input": 0, "output": 0, "context_window": 200_000}


def stand_in(client: Client, url: str) -> tuple[list[RoleChoice], list[RoleChoice]]:
    """The roles it answers for now, and those that a person has chosen a model for: they stay."""
    roles = client.get("/models", ModelsView).roles
    free = [choice for choice in roles if choice.source == "default" or choice.chain == [REF]]
    client.put(f"/models/providers/{PROVIDER}", ProviderView, {"kind": "anthropic", "base_url": url})
    client.put("/models/prices", Price, FREE, {"model": REF})
    with working("The demo model is asked for a word"):
        found = client.post("/models/test", TestResult, {"model": REF}, within_s=TEST_S)
    if not found.ok:
        raise Unavailable(
            f"The demo model does not answer at {clean(url)}: {found.message}",
            hint="Start it in another terminal: forge models serve. If it says another address, name it with --url.",
        )
    for choice in free:
        client.put(f"/models/roles/{choice.role.value}", RoleChoice, {"chain": [REF]})
    return free, [choice for choice in roles if choice not in free]


def stand_down(client: Client) -> list[RoleChoice]:
    """The roles that have their default models again."""
    used = [choice for choice in client.get("/models", ModelsView).roles if choice.chain == [REF]]
    for choice in used:
        client.delete(f"/models/roles/{choice.role.value}", RoleChoice)
    return used
