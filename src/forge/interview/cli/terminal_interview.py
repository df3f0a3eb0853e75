"""Conduct an interview at the terminal, from the description to the result."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from forge.errors import ForgeError, Invalid, NotFound
from forge.interview.cli import renderers
from forge.interview.cli.answers_file import FileResponder, read_answers
from forge.interview.cli.display import InterviewDisplay, is_ready
from forge.interview.cli.interactive import InteractiveResponder
from forge.interview.cli.prompts import Entry, ExitInterview, Menu, PlainPrompts, Prompts
from forge.interview.cli.session_client import SessionClient, find_session, list_drafts
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import InterviewSpeaker, Made
from forge.interview.models import Assembled, SessionView
from forge.terminal.client import Client
from forge.terminal.output import console, print_json

DESCRIPTION_PROMPTS = {
    Mode.BOT: ("What should your bot do?", "for example: answer questions about our returns policy"),
    Mode.BATCH: ("What should your bots do?", "for example: teach mathematics, each to another age group"),
    Mode.SKILL: ("What should the skill do?", "for example: turn meeting notes into a list of decisions"),
}
"""The question and the hint for a missing description."""


@dataclass(frozen=True)
class InterviewOptions:
    """The options of the command line."""

    body: Mapping[str, Any]
    """The request that starts an interview."""
    resume: str | None
    """The beginning of an id; empty to choose from a list."""
    answers: Path | None
    yes: bool
    dry_run: bool
    as_json: bool


class TerminalInterview:
    def __init__(self, client: Client, options: InterviewOptions) -> None:
        out = console()
        out.quiet = options.as_json
        self._client = client
        self._options = options
        self._display = InterviewDisplay(out)
        self._session = SessionClient(client)
        self._file = read_answers(options.answers) if options.answers else None
        self._is_interactive = self._file is None and not options.as_json
        self._confirms = options.yes or options.dry_run
        self.prompts = _prompts()

    def run(self) -> Made | None:
        """Return what was created; None if nothing was, or if it was printed as JSON. Raise `ExitInterview`."""
        view = self._start() if self._options.resume is None else self._resume(self._options.resume)
        try:
            if self._options.as_json and self._file is None and not (is_ready(view) and self._confirms):
                print_json(view)
                return None
            view = self._answer_turns(view)
            return self._print_result(view, self._session.create(view, dry_run=self._options.dry_run))
        except (ForgeError, ExitInterview):
            self._print_how_to_resume(view)
            raise

    def _start(self) -> SessionView:
        body = self._options.body
        description = body["description"] or (self._file and self._file.description) or ""
        has_subject = description or body["bot_slug"] or body["skill"] or body["soul"]
        if self._is_interactive and not has_subject:
            question, hint = DESCRIPTION_PROMPTS[body["mode"]]
            self._display.print(renderers.heading(question))
            description = self.prompts.read_text(hint=hint)
        return self._session.start({**body, "description": description})

    def _resume(self, prefix: str) -> SessionView:
        session_id = find_session(self._client, prefix) if prefix else self._choose_draft()
        view = self._session.wait_for_turn(self._session.view(session_id))
        speaker = self._options.body["speaker"]
        return self._session.switch(view, speaker) if speaker not in (None, view.spoken_by.speaker) else view

    def _choose_draft(self) -> str:
        drafts = list_drafts(self._client)
        if not drafts:
            raise NotFound("There are no drafts.", hint="Start an interview: forge new")
        if not self._is_interactive:
            raise Invalid("--resume needs the ID of a draft here.", hint="List the drafts: forge drafts")
        self._display.print(renderers.heading("Which draft?"))
        entries = [
            Entry(renderers.draft_title(draft), draft.problem or f"{draft.phase.value} phase")
            for draft in drafts
        ]
        picked = self.prompts.choose(Menu(entries))
        if not isinstance(picked, int):
            raise ExitInterview()
        return drafts[picked].session_id

    def _answer_turns(self, view: SessionView) -> SessionView:
        """Answer turns until the result is confirmed."""
        if self._file is not None:
            responder = FileResponder(self._session, self._file, self._display, confirms=self._confirms)
        else:
            responder = InteractiveResponder(
                self._session, self.prompts, self._display, confirms=self._confirms
            )
            has_chosen = (
                self._options.resume is not None or self._options.body["speaker"] == InterviewSpeaker.GUIDE
            )
            if self.prompts.is_terminal and not view.spoken_by.can_switch and not has_chosen:
                view = responder.offer_model(view)
        while view.made is None:
            following = responder.respond(view)
            if following is None:
                break
            view = following
        return view

    def _print_result(self, view: SessionView, assembled: Assembled) -> Made | None:
        made = assembled.result
        if self._options.as_json:
            print_json(assembled)
            return None
        if self._options.dry_run or made is None:
            self._display.print(renderers.files_page(assembled.files))
            self._print_how_to_resume(view, "Dry run: nothing was created. ")
            return None
        self._display.print(renderers.made_page(made))
        if made.skill and view.trial and not view.trial.passed:
            command = f"forge skill test {made.skill.name}"
            click.echo(f"The skill did not pass its tests. Run them again: {command}", err=True)
        self._display.note(f"Recreate the same files: forge interview replay {view.session_id}")
        return made

    def _print_how_to_resume(self, view: SessionView, message: str = "") -> None:
        if view.made is None:
            command = f"forge new --resume {view.session_id}"
            click.echo(f"{message}Saved as a draft. Continue it: {command}", err=True)


def choose_bot(prompts: Prompts, made: Made) -> str | None:
    """Offer to chat with a new bot. Return its slug, or None for none of them."""
    if not made.bots or not prompts.is_terminal:
        return None
    entries = [*(Entry(f"Chat with {bot.bot_name} now") for bot in made.bots), Entry("Not now")]
    with suppress(ExitInterview):
        picked = prompts.choose(Menu(entries))
        if isinstance(picked, int) and picked < len(made.bots):
            return made.bots[picked].bot_slug
    return None


def _prompts() -> Prompts:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return PlainPrompts()
    from forge.interview.cli.terminal_prompts import TerminalPrompts  # slow to import

    return TerminalPrompts()
