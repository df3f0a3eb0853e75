"""`forge skill`: the library, and what can be done with one skill of it. `create` comes from the interview."""

import tempfile
from pathlib import Path
from urllib.parse import quote

import click

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.skills.cli.arguments import skill_path
from forge.skills.cli.bots import attach, detach, disable, enable
from forge.skills.cli.grants import grant, revoke, trust
from forge.skills.cli.installation import install, update
from forge.skills.cli.registries import registry, search
from forge.skills.cli.runs import run, runs, test
from forge.skills.cli.validation import validate
from forge.skills.cli.views import skill_page, skills_table
from forge.skills.models import SKILL_MD, Capability, SkillKind, Tier
from forge.skills.views import FileContent, SkillCard, SkillDetail, SkillEdit, SkillState
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import print_result
from forge.terminal.text import clean


@click.group()
def skill() -> None:
    """Install skills, grant capabilities, run and test skills, attach them to bots."""


@skill.command("list")
@click.argument("words", nargs=-1)
@click.option("--kind", type=click.Choice([one.value for one in SkillKind]), help="Only this kind.")
@click.option("--tier", type=click.Choice([one.value for one in Tier]), help="Only this trust tier.")
@click.option("--state", type=click.Choice([one.value for one in SkillState]), help="Only this state.")
@click.option(
    "--capability",
    type=click.Choice([one.value for one in Capability]),
    help="Only skills that request this capability.",
)
@api_command
def list_skills(client: Client, words: tuple[str, ...], **filters: str | None) -> Result[list[SkillCard]]:
    """List the skills in the library.

    With WORDS, only those that match in name, description or categories.
    """
    found = client.get("/skills", list[SkillCard], {"q": " ".join(words) or None, **filters})
    return Result(found, skills_table, empty="There are no such skills. All there are: forge skill list")


@skill.command()
@click.argument("name")
@api_command
def inspect(client: Client, name: str) -> Result[SkillDetail]:
    """Show the details of a skill.

    Includes requested and granted capabilities, dependencies and files.
    """
    return Result(client.get(skill_path(name), SkillDetail), skill_page)


@skill.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Remove it even if bots or other skills depend on it.")
@yes_option
@api_command
def remove(client: Client, name: str, force: bool, yes: bool) -> Result[SkillCard]:
    """Remove a skill permanently.

    Its grants and stored data are removed. The log of its runs is kept.
    """
    found = client.get(skill_path(name), SkillDetail)
    confirm(f"Remove {clean(found.name)}?", yes=yes)
    removed = client.delete(skill_path(name), SkillCard, {"force": "true"} if force else None)
    return Result(removed, f"Removed {removed.name}.")


@skill.command()
@click.argument("name")
@click.option(
    "--output", metavar="FILE", help="Write to this file instead of NAME.zip; - for standard output."
)
def export(name: str, output: str | None) -> None:
    """Export a skill as a zip file (Agent Skills standard)."""
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


@skill.command()
@click.argument("name")
@click.argument("file", default=SKILL_MD)
@json_option
def edit(name: str, file: str, as_json: bool) -> None:
    """Open a FILE of a skill in $EDITOR (default: SKILL.md).

    A changed skill has to be granted its capabilities again.
    """
    with connect() as client:
        found = client.get(skill_path(name), SkillDetail)
        texts = _texts(client, found)
        if file not in texts:
            raise NotFound(f"{found.name} has no text {file!r}.", hint=f"It has: {', '.join(texts)}")
        written = click.edit(texts[file], extension=Path(file).suffix)
        if written is None or written == texts[file]:
            click.echo("Nothing was changed.", err=True)
            return
        saved = _save(client, found, texts, file, written)
    print_result(saved, skill_page, as_json=as_json)


def _texts(client: Client, found: SkillDetail) -> dict[str, str]:
    """Read all text files: a save removes those that it does not name."""
    paths = [file.path for file in found.files if file.is_text]
    read = [client.get(f"{skill_path(found.name)}/files/{quote(path)}", FileContent) for path in paths]
    return {file.path: file.text for file in read if file.text is not None}


def _save(client: Client, found: SkillDetail, texts: dict[str, str], file: str, written: str) -> SkillDetail:
    """Save the edited file; when that fails, keep the text in a temporary file."""
    body = SkillEdit.model_construct(files={**texts, file: written}, base_hash=found.folder_hash)
    try:
        return client.put(skill_path(found.name), SkillDetail, body.model_dump())
    except ForgeError:
        with tempfile.NamedTemporaryFile(
            "w", prefix=f"{found.name}-", suffix=Path(file).suffix, delete=False, encoding="utf-8"
        ) as kept:
            kept.write(written)
        click.echo(f"What you wrote is in {kept.name}.", err=True)
        raise


for command in (
    *(install, update, validate, run, test, runs, grant, revoke, trust),
    *(attach, detach, enable, disable, search, registry),
):
    skill.add_command(command)
