"""`forge new` and `forge skill create`: talk to Forge at the terminal."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from forge.bots.chat.cli import chat
from forge.bots.lookup import find_bot
from forge.interview.console.prompts import Left
from forge.interview.console.sitting import Sitting, Wish, choose_bot
from forge.interview.domain.build_config import MAX_VARIANTS
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import InterviewSpeaker
from forge.skills.cli.blank import blank_options, create_blank
from forge.terminal.client import connect
from forge.terminal.inputs import read_source
from forge.terminal.options import json_option

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--answers",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Read the answers from this YAML file.",
    ),
    click.option(
        "--guide/--model",
        "is_guided",
        default=None,
        help="Who asks the questions: the built-in guide or a model. Default: the model, if one is configured.",
    ),
    click.option("--yes", is_flag=True, help="Create without a final confirmation."),
    click.option("--dry-run", is_flag=True, help="Show the files without creating anything."),
)


def interview_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return json_option(command)


@click.command()
@click.argument("description", required=False)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode if mode is not Mode.RECONFIGURE]),
    help="What to create: a bot (default), a skill, or a batch of similar bots.",
)
@click.option("--variants", type=click.IntRange(2, MAX_VARIANTS), help="Create a batch of this many bots.")
@click.option("--soul", metavar="FILE", help="Use this SOUL.md unchanged; - reads standard input.")
@click.option("--reconfigure", metavar="BOT", help="Change this bot instead of creating one.")
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    help="Continue a draft. Without ID, choose one from a list.",
)
@interview_options
@click.pass_context
def new(ctx: click.Context, **given: Any) -> None:
    """Create a bot in an interview: describe it, answer a few questions, review it, create it.

    Every answer is saved. Ctrl-C leaves the interview; --resume continues it.
    """
    _check(given)
    _hold(ctx, _wish(given))


@click.command("create")
@click.argument("description", required=False)
@click.option("--edit", metavar="NAME", help="Change this skill instead of creating one.")
@blank_options
@interview_options
@click.pass_context
def create_skill(ctx: click.Context, edit: str | None, **given: Any) -> None:
    """Create a skill in an interview.

    It is tested and can be used at once. Each capability is confirmed separately. --blank writes a template instead, without questions.
    """
    if edit is not None and given["blank"] is not None:
        raise click.UsageError("--edit changes a skill, --blank makes one: they exclude each other.")
    if create_blank(**given):
        return
    _hold(ctx, _wish({**given, "mode": Mode.SKILL.value, "skill": edit}))


def _check(given: dict[str, Any]) -> None:
    if given["resume"] is not None:
        others = ("description", "mode", "variants", "soul", "reconfigure")
        if said := [name for name in others if given[name] is not None]:
            raise click.UsageError(
                f"A draft is gone on with as it is: --resume and {said[0]} exclude each other."
            )
    if given["reconfigure"] is not None and (given["mode"] or given["variants"] or given["soul"]):
        raise click.UsageError(
            "--reconfigure changes one bot: --mode, --variants and --soul do not go with it."
        )
    if given["variants"] and given["mode"] not in (None, Mode.BATCH.value):
        raise click.UsageError("--variants makes a batch: --mode batch.")
    if given["soul"] == "-" and given["answers"] is None and not given["as_json"]:
        raise click.UsageError("With --soul - nobody can be asked: add --answers FILE, or --json.")


def _wish(given: dict[str, Any]) -> Wish:
    mode = given.get("mode") or (Mode.BATCH if given.get("variants") else Mode.BOT)
    speakers = {True: InterviewSpeaker.GUIDE, False: InterviewSpeaker.MODEL, None: None}
    reconfigured = given.get("reconfigure")
    return Wish(
        mode=Mode.RECONFIGURE if reconfigured else Mode(mode),
        description=given["description"],
        variants=given.get("variants") or 0,
        soul=_soul(given.get("soul")),
        bot_slug=reconfigured,
        skill=given.get("skill"),
        resume=given.get("resume"),
        speaker=speakers[given["is_guided"]],
        answers=given["answers"],
        yes=given["yes"],
        dry_run=given["dry_run"],
        as_json=given["as_json"],
    )


def _soul(source: str | None) -> str | None:
    return read_source(source) if source else None


def _hold(ctx: click.Context, wish: Wish) -> None:
    with connect() as client:
        if wish.bot_slug is not None:
            wish = replace(wish, bot_slug=find_bot(client, wish.bot_slug).slug)
        sitting = Sitting(client, wish)
        try:
            made = sitting.hold()
        except Left as left:
            if left.error is not None:
                raise left.error from left
            ctx.exit(130 if left.is_interrupt else 0)
        slug = choose_bot(sitting.prompts, made) if made else None
    if slug is not None:
        ctx.invoke(chat, bot=slug, message=None, session=None, which=None, as_json=False, quiet=False)
