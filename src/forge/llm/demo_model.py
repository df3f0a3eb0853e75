"""Use the scripted model server for every role without a chosen model."""

from forge.errors import Unavailable
from forge.llm.models import ModelsView, Price, ProviderView, RoleChoice, TestResult
from forge.terminal.client import Client
from forge.terminal.output import working
from forge.terminal.text import clean

PROVIDER = "demo"
REF = f"{PROVIDER}:scripted"
TEST_TIMEOUT_S = 90.0
"""Longer than the server's own timeout."""
PRICE = {"input": 0, "output": 0, "context_window": 200_000}


def assign_demo_model(client: Client, url: str) -> tuple[list[RoleChoice], list[RoleChoice]]:
    """Return the roles that use the demo model now, and those with a chosen model, which are not changed."""
    roles = client.get("/models", ModelsView).roles
    assigned = [choice for choice in roles if choice.source == "default" or choice.chain == [REF]]
    client.put(f"/models/providers/{PROVIDER}", ProviderView, {"kind": "anthropic", "base_url": url})
    client.put("/models/prices", Price, PRICE, {"model": REF})
    with working("Testing the demo model"):
        found = client.post("/models/test", TestResult, {"model": REF}, within_s=TEST_TIMEOUT_S)
    if not found.ok:
        raise Unavailable(
            f"The demo model does not answer at {clean(url)}: {found.message}",
            hint="Start it in another terminal: forge models serve. If it prints a different address, pass it with --url.",
        )
    for choice in assigned:
        client.put(f"/models/roles/{choice.role.value}", RoleChoice, {"chain": [REF]})
    return assigned, [choice for choice in roles if choice not in assigned]


def unassign_demo_model(client: Client) -> list[RoleChoice]:
    """Return the roles that were reset to their default models."""
    used = [choice for choice in client.get("/models", ModelsView).roles if choice.chain == [REF]]
    for choice in used:
        client.delete(f"/models/roles/{choice.role.value}", RoleChoice)
    return used
