"""`forge skill create --blank`: write a template without an interview."""

from typing import Any

import click

from forge.skills.cli.arguments import check_name
from forge.skills.execution import Language
from forge.skills.models import SkillFiles, SkillKind
from forge.skills.views import SkillDetail, SkillState
from forge.terminal.client import connect
from forge.terminal.options import one_of, together
from forge.terminal.output import print_json

blank_options = together(
    click.option(
        "--blank", metavar="NAME", help="Write a template with this name instead of starting an interview."
    ),
    click.option(
        "--kind",
        type=one_of(SkillKind),
        help="Kind of the template: instructions (default), a script, or a local program.",
    ),
    click.option(
        "--language",
        type=one_of([Language.JS, Language.PY]),
        help="Language of the template: py (default) or js.",
    ),
    click.option(
        "--description",
        "blank_description",
        metavar="TEXT",
        help="Description of the template: what the skill does and when to use it.",
    ),
)
_BLANK_ONLY = ("kind", "language", "blank_description")


def create_blank(*, blank: str | None, description: str | None, as_json: bool, **options: Any) -> bool:
    """Create a blank skill, and return False without `--blank`. `description` is the positional argument."""
    chosen = {name: options[name] for name in _BLANK_ONLY if options[name] is not None}
    if blank is None:
        if chosen:
            option = "description" if "blank_description" in chosen else next(iter(chosen))
            raise click.UsageError(f"--{option} requires --blank NAME.")
        return False
    language = Language(chosen["language"]) if "language" in chosen else None
    kind = SkillKind(chosen.get("kind") or (SkillKind.SCRIPT if language else SkillKind.PROMPT))
    if language and kind is SkillKind.PROMPT:
        raise click.UsageError("--language requires --kind script or local.")
    text = (chosen.get("blank_description") or description or "").strip()
    if not text:
        raise click.UsageError("A description is required: --description TEXT.")
    check_name(blank, "skill")
    body = {"name": blank, "kind": kind, "language": language, "description": text}
    with connect() as client:
        template = client.post("/skills/frame", SkillFiles, body)
        _print(client.post("/skills", SkillDetail, template.model_dump()), as_json=as_json)
    return True


def _print(skill: SkillDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(skill)
        return
    click.echo(f"Created {skill.folder}: {', '.join(file.path for file in skill.files)}")
    if skill.state is SkillState.REVIEW:
        click.echo(f"Grant its capabilities: forge skill grant {skill.name}", err=True)
    if skill.entry is not None:
        example = """'{"text": "two words"}'"""
        click.echo(f"Try it: forge skill run {skill.name} --input {example}", err=True)
