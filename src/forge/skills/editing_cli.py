"""`forge skill edit`."""

import tempfile
from pathlib import Path
from urllib.parse import quote

import click

from forge.errors import ForgeError, NotFound
from forge.skills.command_words import skill_path
from forge.skills.models import SKILL_MD
from forge.skills.views import FileContent, SkillDetail, SkillEdit
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json


@click.command()
@click.argument("name")
@click.argument("file", default=SKILL_MD)
@json_option
def edit(name: str, file: str, as_json: bool) -> None:
    """Open FILE of a skill in $EDITOR, SKILL.md unless named.

    What was granted does not count for what it is then.
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
    if as_json:
        print_json(saved)
        return
    from forge.skills.show import skill_page

    console().print(skill_page(saved))


def _texts(client: Client, found: SkillDetail) -> dict[str, str]:
    """All of them: what is not named in a save is removed."""
    paths = [file.path for file in found.files if file.is_text]
    read = [client.get(f"{skill_path(found.name)}/files/{quote(path)}", FileContent) for path in paths]
    return {file.path: file.text for file in read if file.text is not None}


def _save(client: Client, found: SkillDetail, texts: dict[str, str], file: str, written: str) -> SkillDetail:
    """What somebody wrote is not lost because it cannot be saved."""
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
