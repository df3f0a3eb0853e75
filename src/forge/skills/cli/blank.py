"""`forge skill create --blank`: write a template without an interview."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from forge.errors import Invalid
from forge.skills.execution import Language
from forge.skills.models import SkillFiles, SkillKind, is_skill_name
from forge.skills.views import SkillDetail, SkillState
from forge.terminal.client import connect
from forge.terminal.output import print_json

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--blank", metavar="NAME", help="Write a template with this name instead of starting an interview."
    ),
    click.option(
        "--kind",
        type=click.Choice([one.value for one in SkillKind]),
        help="Kind of the template: instructions (default), a script, or a local program.",
    ),
    click.option(
        "--language",
        type=click.Choice([Language.JS.value, Language.PY.value]),
        help="Language of the template: py (default) or js.",
    ),
    click.option(
        "--description",
        "told",
        metavar="TEXT",
        help="Description of the template: what the skill does and when to use it.",
    ),
)
_OURS = ("kind", "language", "told")


def blank_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def create_blank(*, blank: str | None, description: str | None, as_json: bool, **given: Any) -> bool:
    """Create a blank skill, and return False without `--blank`. `description` is the positional argument."""
    said = {name: given[name] for name in _OURS if given[name] is not None}
    if blank is None:
        if said:
            option = "description" if "told" in said else next(iter(said))
            raise click.UsageError(f"--{option} is for a blank skill: --blank NAME.")
        return False
    language = Language(said["language"]) if "language" in said else None
    kind = SkillKind(said.get("kind") or (SkillKind.SCRIPT if language else SkillKind.PROMPT))
    if language and kind is SkillKind.PROMPT:
        raise click.UsageError("Instructions have no --language: choose --kind script or local.")
    text = (said.get("told") or description or "").strip()
    if not text:
        raise click.UsageError("Say what it does and when to use it: --description TEXT.")
    _print(_make(blank, kind, language, text), as_json=as_json)
    return True


def _make(name: str, kind: SkillKind, language: Language | None, text: str) -> SkillDetail:
    if not is_skill_name(name):
        raise Invalid(
            f"A skill cannot be called {name!r}.",
            hint="Use lower-case letters, digits and single hyphens, such as `release-notes`.",
        )
    wish = {"name": name, "kind": kind, "language": language, "description": text}
    with connect() as client:
        made = client.post("/skills/frame", SkillFiles, wish)
        return client.post("/skills", SkillDetail, made.model_dump())


def _print(made: SkillDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(made)
        return
    click.echo(f"Wrote {made.folder}: {', '.join(file.path for file in made.files)}")
    if made.state is SkillState.REVIEW:
        click.echo(f"Grant it what it needs: forge skill grant {made.name}", err=True)
    if made.entry is not None:
        example = """'{"text": "two words"}'"""
        click.echo(f"Try it: forge skill run {made.name} --input {example}", err=True)
