"""Saves the key of a provider in the middle of an interview."""

from forge.accounts.models import SecretView
from forge.interview.console.prompts import Entry, Menu, Prompts
from forge.interview.console.stage import Stage
from forge.llm.models import ModelsView, ProviderView
from forge.terminal.client import Client


def save_key(client: Client, prompts: Prompts, stage: Stage) -> bool:
    """False when nobody gave one. The value is typed unseen, and only the vault keeps it."""
    provider = _choose(client, prompts)
    if provider is None or provider.key_name is None:
        return False
    value = prompts.write_hidden(f"{provider.key_name} (not shown)")
    if not value:
        return False
    client.put(f"/secrets/{provider.key_name}", SecretView, {"value": value, "scope": ""})
    stage.say(f"Saved, encrypted, as {provider.key_name}.")
    return True


def _choose(client: Client, prompts: Prompts) -> ProviderView | None:
    providers = [
        one for one in client.get("/models", ModelsView).providers if one.key_name and not one.has_key
    ]
    entries = [Entry(one.name, f"its key is saved as {one.key_name}") for one in providers]
    picked = prompts.choose(Menu([*entries, Entry("None of them")], back=len(entries)))
    return providers[picked] if isinstance(picked, int) and picked < len(providers) else None
