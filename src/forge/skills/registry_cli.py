"""`forge skill search` and `forge skill registry`: indexes of skills that others keep."""

import click

from forge.errors import Invalid, NotFound
from forge.skills.installing.views import Registry, RegistryEntry
from forge.skills.models import is_skill_name
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json, working

FETCH_S = 120.0
REGISTRIES = "/skill-registries"


@click.command()
@click.argument("words", nargs=-1)
@json_option
def search(words: tuple[str, ...], as_json: bool) -> None:
    """Search the registries; without WORDS, list all they have.

    Install what is found: forge skill install REGISTRY:NAME.
    """
    with connect() as client:
        found = client.get(f"{REGISTRIES}/search", list[RegistryEntry], {"q": " ".join(words)})
    if as_json:
        print_json(found)
    elif not found:
        click.echo("No registry has such a skill. Those there are: forge skill registry list", err=True)
    else:
        from forge.skills.show import entries_table

        console().print(entries_table(found))


@click.group()
def registry() -> None:
    """Keep the registries skills are found in."""


@registry.command()
@click.argument("name")
@click.argument("url")
@json_option
def add(name: str, url: str, as_json: bool) -> None:
    """Add the index at URL under a name of your own. It is fetched at once."""
    if not is_skill_name(name):
        raise Invalid(
            f"A registry cannot be called {name!r}.",
            hint="Use lower-case letters, digits and single hyphens, such as `acme`.",
        )
    with connect() as client, working("Fetching the index…"):
        added = client.post(REGISTRIES, Registry, {"name": name, "url": url}, within_s=FETCH_S)
    _print([added], as_json=as_json, data=added)


@registry.command("list")
@json_option
def list_registries(as_json: bool) -> None:
    """List the registries, and how old what is known of them is."""
    with connect() as client:
        found = client.get(REGISTRIES, list[Registry])
    if not found and not as_json:
        click.echo("There are none. Add one: forge skill registry add NAME URL", err=True)
    else:
        _print(found, as_json=as_json, data=found)


@registry.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Forget a registry. Skills that came from it stay."""
    with connect() as client:
        found = _find(client, name)
        client.drop(f"{REGISTRIES}/{found.name}")
    if as_json:
        print_json(found)
    else:
        click.echo(f"Removed {found.name}.")


@registry.command()
@click.argument("name", required=False)
@json_option
@click.pass_context
def refresh(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Fetch the index of a registry again, or of all.

    Exits with 1 when one could not be fetched; what is known of it is used on.
    """
    with connect() as client, working("Fetching…"):
        wanted = [_find(client, name)] if name else client.get(REGISTRIES, list[Registry])
        fresh = [
            client.post(f"{REGISTRIES}/{one.name}/refresh", Registry, within_s=FETCH_S) for one in wanted
        ]
    _print(fresh, as_json=as_json, data=fresh)
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


def _print(found: list[Registry], *, as_json: bool, data: Registry | list[Registry]) -> None:
    if as_json:
        print_json(data)
        return
    from forge.skills.show import registries_table

    console().print(registries_table(found))
