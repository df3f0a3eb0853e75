"""`forge skill validate`."""

from pathlib import Path

import click

from forge.errors import Invalid
from forge.skills.cli.arguments import at_home, skill_path
from forge.skills.cli.installation import send, upload
from forge.skills.cli.views import problem_line
from forge.skills.format.contents import text_of
from forge.skills.format.zip_archive import pack, read_folder
from forge.skills.installation.views import Staged
from forge.skills.models import SKILL_MD, is_skill_name
from forge.skills.views import SkillDetail, Validation
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.command()
@click.argument("what", metavar="PATH|NAME")
@json_option
@click.pass_context
def validate(ctx: click.Context, what: str, as_json: bool) -> None:
    """Validate a skill.

    A folder, zip file or SKILL.md, or the name of a skill in the library. Exit code 2 if it is not valid.
    """
    with connect() as client:
        found = _look(client, what)
    if as_json:
        print_json(found)
    else:
        _print(found, what)
    ctx.exit(0 if found.valid else 2)


def _look(client: Client, what: str) -> Validation:
    if what.lower().endswith(".zip") and not at_home(what).is_dir():
        return _of_archive(client, at_home(what))
    folder = _folder(what)
    return _of_library(client, what) if folder is None else _of_folder(client, folder)


def _folder(what: str) -> Path | None:
    path = at_home(what)
    if path.name == SKILL_MD and path.is_file():
        return path.parent
    return path if "/" in what or what.startswith((".", "~")) or (path / SKILL_MD).is_file() else None


def _of_library(client: Client, name: str) -> Validation:
    found = client.get(skill_path(name), SkillDetail)
    return Validation(
        valid=all(problem.is_warning for problem in found.problems),
        problems=found.problems,
        manifest=found.manifest,
        asks=found.asks,
    )


def _of_folder(client: Client, folder: Path) -> Validation:
    """Validate a folder. One with binary files cannot be sent as texts, so it is staged, checked and dropped."""
    files = read_folder(folder).files
    name = folder.resolve().name
    if SKILL_MD not in files:
        raise Invalid(f"There is no {SKILL_MD} in {folder}.")
    if not is_skill_name(name):
        raise Invalid(
            f"A skill cannot be called {name!r}, which is what its folder is called.",
            hint="Use lower-case letters, digits and single hyphens, such as `release-notes`.",
        )
    texts = {path: text for path, data in files.items() if (text := text_of(data)) is not None}
    if len(texts) == len(files):
        return client.post("/skills/validate", Validation, {"name": name, "files": texts})
    return _of_staged(client, upload(client, pack(files, below=name)))


def _of_archive(client: Client, path: Path) -> Validation:
    return _of_staged(client, send(client, path))


def _of_staged(client: Client, staged: Staged) -> Validation:
    client.drop(f"/skill-stages/{staged.id}")
    if len(staged.skills) != 1:
        raise Invalid(
            f"There are {len(staged.skills) or 'no'} skills in it.",
            hint=f"Name one: a folder with a {SKILL_MD}, or a zip of it.",
        )
    found = staged.skills[0]
    return Validation(valid=found.valid, problems=found.problems, manifest=found.manifest, asks=found.asks)


def _print(found: Validation, what: str) -> None:
    out = console()
    for problem in found.problems:
        out.print(problem_line(problem))
    if found.valid:
        asks = ", ".join(dict.fromkeys(ask.capability.value for ask in found.asks)) or "nothing"
        click.echo(f"{clean(what)} is a skill. It asks for {asks}.")
    else:
        click.echo(f"{clean(what)} is not a skill as it is.", err=True)
