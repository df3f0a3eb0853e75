"""`forge new` and `forge skill create`: create or change a bot or a skill in an interview."""

from pathlib import Path
from typing import Any

import click

from forge.bots.chat.terminal.cli import chat
from forge.bots.lookup import find_bot
from forge.interview.cli.prompts import ExitInterview
from forge.interview.cli.terminal_interview import InterviewOptions, TerminalInterview, choose_bot
from forge.interview.domain.build_config import MAX_VARIANTS
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import InterviewSpeaker
from forge.skills.cli.blank import blank_options, create_blank
from forge.terminal.client import Client
from forge.terminal.commands import api_command
from forge.terminal.inputs import PIPE, read_source
from forge.terminal.options import one_of, together

interview_options = together(
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


@click.command()
@click.option(
    "--mode",
    type=one_of(mode for mode in Mode if mode is not Mode.RECONFIGURE),
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
@api_command
def new(client: Client, description: str | None = None, /, *, as_json: bool, **options: Any) -> int:
    """Create a bot in an interview: describe it, answer a few questions, review it, create it.

    Every answer is saved. Ctrl-C leaves the interview; --resume continues it.
    """
    _check({**options, "description": description})
    if options["soul"] == PIPE and options["answers"] is None and not as_json:
        raise click.UsageError("--soul - occupies standard input: add --answers FILE or --json.")
    return _run(client, description, as_json=as_json, **options)


@click.command("create")
@click.option("--edit", metavar="NAME", help="Change this skill instead of creating one.")
@blank_options
@interview_options
@api_command
def create_skill(
    client: Client,
    description: str | None = None,
    /,
    *,
    edit: str | None,
    as_json: bool,
    blank: str | None,
    **options: Any,
) -> int:
    """Create a skill in an interview.

    It is tested and can be used at once. Each capability is confirmed separately. --blank writes a template instead, without questions.
    """
    if edit is not None and blank is not None:
        raise click.UsageError("--edit cannot be combined with --blank.")
    if create_blank(blank=blank, description=description, as_json=as_json, **options):
        return 0
    return _run(client, description, as_json=as_json, mode=Mode.SKILL, skill=edit, **options)


def _check(options: dict[str, Any]) -> None:
    changes = ("mode", "variants", "soul")
    for name, others in (("resume", ("description", *changes, "reconfigure")), ("reconfigure", changes)):
        for other in others:
            if options[name] is not None and options[other] is not None:
                shown = "a description" if other == "description" else f"--{other}"
                raise click.UsageError(f"--{name} cannot be combined with {shown}.")
    if options["variants"] and options["mode"] not in (None, Mode.BATCH.value):
        raise click.UsageError("--variants requires --mode batch.")


def _run(client: Client, description: str | None, *, as_json: bool, **options: Any) -> int:
    """Conduct the interview, and return the exit code."""
    bot, soul, is_guided = options.get("reconfigure"), options.get("soul"), options["is_guided"]
    default = Mode.RECONFIGURE if bot else Mode.BATCH if options.get("variants") else Mode.BOT
    speaker = InterviewSpeaker.GUIDE if is_guided else InterviewSpeaker.MODEL
    body = {
        "description": description or "",
        "mode": Mode(options.get("mode") or default),
        "variants": options.get("variants") or 0,
        "soul": read_source(soul) if soul else None,
        "bot_slug": find_bot(client, bot).slug if bot else None,
        "skill": options.get("skill"),
        "speaker": None if is_guided is None else speaker,
    }
    interview = TerminalInterview(
        client,
        InterviewOptions(
            body, options.get("resume"), options["answers"], options["yes"], options["dry_run"], as_json
        ),
    )
    try:
        made = interview.run()
    except ExitInterview as exited:
        if exited.error is not None:
            raise exited.error from exited
        return 130 if exited.is_interrupt else 0
    if made and (slug := choose_bot(interview.prompts, made)):
        context = click.get_current_context()
        context.invoke(chat, bot=slug, message=None, session=None, which=None, as_json=False, quiet=False)
    return 0
