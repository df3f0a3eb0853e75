"""`forge skill search` and `forge skill registry`."""

import click

from forge.errors import Invalid, NotFound
from forge.skills.cli.views import entries_table, registries_table
from forge.skills.installation.views import Registry, RegistryEntry
from forge.skills.models import is_skill_name
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.options import json_option
from forge.terminal.output import print_result, working

FETCH_S = 120.0
REGISTRIES = "/skill-registries"


@click.command()
@click.argument("words", nargs=-1)
@api_command
def search(client: Client, words: tuple[str, ...]) -> Result[list[RegistryEntry]]:
    """Search the registries. Without WORDS, list all their skills.

    Install a result with: forge skill install REGISTRY:NAME.
    """
    found = client.get(f"{REGISTRIES}/search", list[RegistryEntry], {"q": " ".join(words)})
    empty = "No registry has such a skill. List the registries: forge skill registry list"
    return Result(found, entries_table, empty=empty)


@click.group()
def registry() -> None:
    """Manage skill registries."""


@registry.command()
@click.argument("name")
@click.argument("url")
@api_command
def add(client: Client, name: str, url: str) -> Result[Registry]:
    """Add the registry at URL as NAME, and fetch its index."""
    if not is_skill_name(name):
        raise Invalid(
            f"A registry cannot be called {name!r}.",
            hint="Use lower-case letters, digits and single hyphens, such as `acme`.",
        )
    with working("Fetching the index…"):
        added = client.post(REGISTRIES, Registry, {"name": name, "url": url}, within_s=FETCH_S)
    return Result(added, lambda one: registries_table([one]))


@registry.command("list")
@api_command
def list_registries(client: Client) -> Result[list[Registry]]:
    """List registries and when their indexes were fetched."""
    found = client.get(REGISTRIES, list[Registry])
    empty = "There are no registries. Add one: forge skill registry add NAME URL"
    return Result(found, registries_table, empty=empty)


@registry.command()
@click.argument("name")
@api_command
def remove(client: Client, name: str) -> Result[Registry]:
    """Remove a registry. Installed skills are kept."""
    found = _find(client, name)
    client.drop(f"{REGISTRIES}/{found.name}")
    return Result(found, f"Removed {found.name}.")


@registry.command()
@click.argument("name", required=False)
@json_option
@click.pass_context
def refresh(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Fetch the index of one registry, or of all.

    Exit code 1 if a registry could not be fetched; its previous index stays in use.
    """
    with connect() as client, working("Fetching…"):
        wanted = [_find(client, name)] if name else client.get(REGISTRIES, list[Registry])
        fresh = [
            client.post(f"{REGISTRIES}/{one.name}/refresh", Registry, within_s=FETCH_S) for one in wanted
        ]
    print_result(fresh, registries_table, as_json=as_json)
    before = {one.name: one.fetched_at for one in wanted}
    missed = [one for one in fresh if one.problem and one.fetched_at == before[one.name]]
    for one in missed:
        click.echo(f"{one.name} could not be fetched; what was fetched before is used.", err=True)
    ctx.exit(1 if missed else 0)


def _find(client: Client, name: str) -> Registry:
    found = next((one for one in client.get(REGISTRIES, list[Registry]) if one.name == name), None)
    if found is None:
        raise NotFound(f"There is no registry {name!r}.", hint="List them: forge skill registry list")
    return found
