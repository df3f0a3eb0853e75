"""One `forge new` from its first word to what comes of it."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import click

from forge.errors import ForgeError, Invalid, NotFound
from forge.interview.console import show
from forge.interview.console.answers_file import AnswersFile, read_answers
from forge.interview.console.person import Person
from forge.interview.console.plain import PlainPrompts
from forge.interview.console.prompts import Entry, Left, Menu, Prompts
from forge.interview.console.remote import Remote
from forge.interview.console.script import Script
from forge.interview.console.stage import Stage, is_ready
from forge.interview.console.whispers import Whispers
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import InterviewSpeaker, Made
from forge.interview.models import Assembled, DraftSummary, SessionView
from forge.terminal.client import Client
from forge.terminal.lookup import choose, is_id
from forge.terminal.output import console, print_json

WHAT = {
    Mode.BOT: ("What should your bot do?", "such as: answer questions about our returns policy"),
    Mode.BATCH: ("What should your bots do?", "such as: tutors for mathematics, each for another age"),
    Mode.SKILL: ("What should the skill do?", "such as: turn meeting notes into a list of decisions"),
}


@dataclass(frozen=True)
class Wish:
    """What the command line said."""

    mode: Mode = Mode.BOT
    description: str | None = None
    variants: int = 0
    soul: str | None = None
    bot_slug: str | None = None
    skill: str | None = None
    resume: str | None = None
    """The beginning of an id; empty to choose one."""
    speaker: InterviewSpeaker | None = None
    answers: Path | None = None
    yes: bool = False
    dry_run: bool = False
    as_json: bool = False

    @property
    def is_new(self) -> bool:
        """Nothing exists yet that says what it is about."""
        return self.resume is None and self.bot_slug is None and self.skill is None and self.soul is None

    def body(self, description: str) -> Mapping[str, Any]:
        return {
            "description": description,
            "mode": self.mode.value,
            "variants": self.variants,
            "soul": self.soul,
            "bot_slug": self.bot_slug,
            "skill": self.skill,
            "speaker": self.speaker and self.speaker.value,
        }


class Answerer(Protocol):
    def respond(self, view: SessionView) -> SessionView | None: ...


class Sitting:
    def __init__(self, client: Client, wish: Wish) -> None:
        out = console()
        out.quiet = wish.as_json
        self._client = client
        self._wish = wish
        self._stage = Stage(out)
        self._remote = Remote(client, Whispers(client, out))
        self._prompts = _prompts()
        self._file = read_answers(wish.answers) if wish.answers else None

    def hold(self) -> Made | None:
        """What was made; None when nothing was, which is said. Raises `Left`."""
        view = self._begin()
        try:
            if self._wish.as_json and self._file is None and not (is_ready(view) and self._agrees):
                print_json(view)
                return None
            if view.made is None:
                view = self._talk(view)
            return self._make(view)
        except (ForgeError, Left):
            self._say_where_it_is(view)
            raise

    @property
    def prompts(self) -> Prompts:
        return self._prompts

    @property
    def _agrees(self) -> bool:
        return self._wish.yes or self._wish.dry_run

    @property
    def _has_person(self) -> bool:
        return self._file is None and not self._wish.as_json

    def _begin(self) -> SessionView:
        if self._wish.resume is None:
            return self._remote.start(self._wish.body(self._description(self._file)))
        view = self._remote.settled(self._remote.view(self._find(self._wish.resume)))
        if self._wish.speaker is not None and self._wish.speaker is not view.spoken_by.speaker:
            view = self._remote.switch(view, self._wish.speaker)
        return view

    def _description(self, file: AnswersFile | None) -> str:
        said = self._wish.description or (file.description if file else None)
        if said or not self._has_person or not self._wish.is_new:
            return said or ""
        question, hint = WHAT[self._wish.mode]
        self._stage.page(show.heading(question))
        return self._prompts.write(hint=hint)

    def _find(self, given: str) -> str:
        if is_id(given.lower()):
            return given
        drafts = self._client.get("/builder/drafts", list[DraftSummary])
        if given:
            return choose(given, "draft", drafts, _id, listed_by="drafts").session_id
        if not drafts:
            raise NotFound("There are no drafts.", hint="Begin an interview: forge new")
        if not self._has_person:
            raise Invalid("Which draft?", hint="List them: forge drafts")
        return self._pick(drafts).session_id

    def _pick(self, drafts: list[DraftSummary]) -> DraftSummary:
        self._stage.page(show.heading("Which one?"))
        entries = [Entry(show.draft_title(draft), _standing(draft)) for draft in drafts]
        picked = self._prompts.choose(Menu(entries))
        if not isinstance(picked, int):
            raise Left()
        return drafts[picked]

    def _talk(self, view: SessionView) -> SessionView:
        """Until somebody agrees to what is ready."""
        answerer = self._answerer()
        if isinstance(answerer, Person) and self._wants_a_model(view):
            view = answerer.offer_model(view)
        while view.made is None:
            following = answerer.respond(view)
            if following is None:
                break
            view = following
        return view

    def _answerer(self) -> Answerer:
        if self._file is not None:
            return Script(self._remote, self._file, self._stage, agrees=self._agrees)
        return Person(self._remote, self._prompts, self._stage, agrees=self._agrees)

    def _wants_a_model(self, view: SessionView) -> bool:
        is_asked = self._wish.speaker is InterviewSpeaker.GUIDE or self._wish.resume is not None
        return self._prompts.is_terminal and not view.spoken_by.can_switch and not is_asked

    def _make(self, view: SessionView) -> Made | None:
        assembled = self._remote.make(view, dry_run=self._wish.dry_run)
        if self._wish.as_json:
            print_json(assembled)
            return None
        return self._show(view, assembled)

    def _show(self, view: SessionView, assembled: Assembled) -> Made | None:
        if self._wish.dry_run or assembled.result is None:
            self._stage.page(show.files_page(assembled.files))
            self._say_where_it_is(view, "Nothing was made.")
            return None
        self._stage.page(show.made_page(assembled.result))
        if assembled.result.skill and view.trial and not view.trial.passed:
            name = assembled.result.skill.name
            click.echo(f"Its own test did not pass: forge skill test {name}", err=True)
        self._stage.say(f"The same files once more: forge interview replay {view.session_id}")
        return assembled.result

    def _say_where_it_is(self, view: SessionView, first: str = "") -> None:
        if view.made is None:
            text = f"Saved as a draft. Go on with it: forge new --resume {view.session_id}"
            click.echo(f"{first} {text}".strip(), err=True)


def choose_bot(prompts: Prompts, made: Made) -> str | None:
    """Whom to talk to now; None for nobody."""
    if not made.bots or not prompts.is_terminal:
        return None
    entries = [*(Entry(f"Talk to {bot.bot_name} now") for bot in made.bots), Entry("Not now")]
    with suppress(Left):
        picked = prompts.choose(Menu(entries))
        if isinstance(picked, int) and picked < len(made.bots):
            return made.bots[picked].bot_slug
    return None


def _prompts() -> Prompts:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return PlainPrompts()
    from forge.interview.console.picking import TerminalPrompts

    return TerminalPrompts()


def _id(draft: DraftSummary) -> str:
    return draft.session_id


def _standing(draft: DraftSummary) -> str:
    return (
        draft.problem or f"{draft.phase.value} phase, updated {draft.updated_at.astimezone():%Y-%m-%d %H:%M}"
    )
