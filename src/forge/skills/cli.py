"""`forge skill`: the library, and what can be done with one skill of it. `create` comes from the interview."""

from pathlib import Path

import click

from forge.errors import Conflict, Invalid
from forge.skills.attaching_cli import attach, detach, disable, enable
from forge.skills.command_words import skill_path
from forge.skills.editing_cli import edit
from forge.skills.granting_cli import grant, revoke, trust
from forge.skills.installing_cli import install, update
from forge.skills.models import Capability, SkillKind, Tier
from forge.skills.registry_cli import registry, search
from forge.skills.running_cli import run, runs, test
from forge.skills.validating_cli import validate
from forge.skills.views import SkillCard, SkillDetail, SkillState
from forge.terminal.asking import be_sure
from forge.terminal.client import connect
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.group()
def skill() -> None:
    """Get skills, decide what they may do, run and test them, give them to bots."""


@skill.command("list")
@click.argument("words", nargs=-1)
@click.option("--kind", type=click.Choice([one.value for one in SkillKind]), help="Only these.")
@click.option("--tier", type=click.Choice([one.value for one in Tier]), help="Only those trusted so far.")
@click.option("--state", type=click.Choice([one.value for one in SkillState]), help="Only those in it.")
@click.option(
    "--capability", type=click.Choice([one.value for one in Capability]), help="Only those that ask for it."
)
@json_option
def list_skills(words: tuple[str, ...], as_json: bool, **given: str | None) -> None:
    """List the library.

    All, or those with WORDS in the name, description or categories.
    """
    with connect() as client:
        found = client.get("/skills", list[SkillCard], {"q": " ".join(words) or None, **given})
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no such skills. All there are: forge skill list", err=True)
    else:
        from forge.skills.show import skills_table

        console().print(skills_table(found))


@skill.command()
@click.argument("name")
@json_option
def inspect(name: str, as_json: bool) -> None:
    """Show all there is to know about a skill.

    What it asks for and what of that is granted, what it needs, its files.
    """
    with connect() as client:
        found = client.get(skill_path(name), SkillDetail)
    if as_json:
        print_json(found)
        return
    from forge.skills.show import skill_page

    console().print(skill_page(found))


@skill.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Even though bots or other skills need it.")
@yes_option
@json_option
def remove(name: str, force: bool, yes: bool, as_json: bool) -> None:
    """Remove a skill for good.

    With what it was granted and what it kept. The log of its runs stays.
    """
    with connect() as client:
        found = client.get(skill_path(name), SkillDetail)
        if not yes:
            be_sure(f"Remove {clean(found.name)}?")
        removed = client.delete(skill_path(name), SkillCard, {"force": "true"} if force else None)
    if as_json:
        print_json(removed)
    else:
        click.echo(f"Removed {removed.name}.")


@skill.command()
@click.argument("name")
@click.option("--output", metavar="FILE", help="Write it here instead of NAME.zip; - for standard output.")
def export(name: str, output: str | None) -> None:
    """Write a skill as a zip that any client of the standard takes."""
    with connect() as client:
        data = client.get_bytes(f"{skill_path(name)}/export")
    if output == "-":
        click.echo(data, nl=False)
        return
    path = Path(output or f"{name}.zip")
    if output is None and path.exists():
        raise Conflict(f"There is a {path} already.", hint="Say where to write it: --output FILE")
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.") from error
    click.echo(f"Wrote {path}.", err=True)


for command in (
    *(install, update, validate, run, test, runs, grant, revoke, trust),
    *(attach, detach, enable, disable, edit, search, registry),
):
    skill.add_command(command)
