"""How conversations look in a terminal, and answers while they are written."""

import sys
from collections.abc import Iterable, Sequence
from typing import Protocol

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from forge.bots.chat.footer import footer
from forge.bots.chat.markdown import ModelMarkdown, split_settled
from forge.bots.chat.models import Message, SearchHit, Session, SkillUse, Speaker, UseState
from forge.bots.models import MessageStatus
from forge.kernel.clock import now
from forge.llm.models import dollars
from forge.runs.run_view import problem_text
from forge.terminal.output import dot, table, words
from forge.terminal.text import ago, clean

FAINT = "bright_black"
LONG = 4000
"""Characters of a block that are still drawn as Markdown while they are written."""
AGAIN = "The model was asked again, and the answer begins anew:"
ENDED = {
    MessageStatus.STOPPED: "The answer was stopped.",
    MessageStatus.INTERRUPTED: "The answer was interrupted.",
    MessageStatus.FAILED: "The answer failed.",
}


class View(Protocol):
    """Shows one answer."""

    def begin(self, shown: str) -> None:
        """`shown` of it is on the screen already."""
        ...

    def text(self, piece: str) -> None: ...

    def again(self, text: str) -> None:
        """What was shown does not count: this is all of it so far."""
        ...

    def thinking(self, piece: str) -> None: ...

    def skill(self, use: SkillUse) -> None:
        """It begins to use a skill, or is done with it."""
        ...

    def lost(self, message: str) -> None:
        """The server is away, and may come back."""
        ...

    def end(self, text: str) -> None:
        """All of it, as it is now."""
        ...


class PlainView:
    """The words and nothing else, once they are all there: nothing can be taken back from pipes and files."""

    def __init__(self) -> None:
        self._shown = ""

    def begin(self, shown: str) -> None:
        self._shown = shown

    def text(self, piece: str) -> None: ...

    def again(self, text: str) -> None: ...

    def thinking(self, piece: str) -> None: ...

    def skill(self, use: SkillUse) -> None:
        if use.state is not UseState.RUNNING:
            click.echo(skill_line(use).plain, err=True)

    def lost(self, message: str) -> None:
        click.echo(message, err=True)

    def end(self, text: str) -> None:
        sys.stdout.write(clean(text.removeprefix(self._shown)) + "\n" * (not text.endswith("\n")))
        sys.stdout.flush()


class NoView:
    """Shows nothing: for who prints the whole in another form."""

    def begin(self, shown: str) -> None: ...

    def text(self, piece: str) -> None: ...

    def again(self, text: str) -> None: ...

    def thinking(self, piece: str) -> None: ...

    def skill(self, use: SkillUse) -> None: ...

    def lost(self, message: str) -> None:
        click.echo(message, err=True)

    def end(self, text: str) -> None: ...


class LiveView:
    """Markdown in a terminal: whole blocks are printed for good, the one that is being written moves."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._live: Live | None = None
        self._settled = ""
        self._rest = ""

    def begin(self, shown: str) -> None:
        self._settled, self._rest = shown, ""
        waiting = Spinner("dots", Text(" …", FAINT), style=FAINT)
        self._live = Live(waiting, console=self._out, transient=True, refresh_per_second=10)
        self._live.start()

    def text(self, piece: str) -> None:
        """A block can only be over when another line has begun."""
        settled, self._rest = "", self._rest + piece
        if "\n" in piece:
            settled, self._rest = split_settled(self._rest)
        if self._live:
            self._live.update(_Tail(self._rest), refresh=bool(settled))
        self._print(settled)

    def again(self, text: str) -> None:
        """What was printed for good stays on the screen, so it is said that it does not count."""
        if not text.startswith(self._settled):
            self._out.print(words(AGAIN, "yellow"))
            self._settled = ""
        self._rest = ""
        self.text(text[len(self._settled) :])

    def thinking(self, piece: str) -> None:
        if self._live and not self._rest:
            self._live.update(Spinner("dots", Text(" thinking …", FAINT), style=FAINT))

    def skill(self, use: SkillUse) -> None:
        """What was said before it is a block of its own."""
        rest, self._rest = self._rest, ""
        if self._live:
            self._live.update(Spinner("dots", Text(f" using {clean(use.skill)} …", FAINT), style=FAINT))
        self._print(rest)
        if use.state is not UseState.RUNNING:
            self._out.print(skill_line(use))

    def lost(self, message: str) -> None:
        """Inside of what moves: anything else that is printed would be drawn over, and leave lines behind."""
        if self._live:
            self._live.update(Group(_Tail(self._rest), words(message, "yellow")))

    def end(self, text: str) -> None:
        """What was stopped may have been seen further than it was kept."""
        if self._live:
            self._live.stop()
            self._live = None
        seen = self._settled + self._rest
        if not seen.startswith(text):
            self.again(text)
        self._print(self._rest)

    def _print(self, block: str) -> None:
        self._settled += block
        if block.strip():
            self._out.print(ModelMarkdown(block))
            self._out.print()


class _Tail:
    """The end of a block that is being written. A long one is shown plain, since it is drawn ten times a second."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(3, console.height - 3)
        lines = self._text.split("\n")
        if len(lines) <= room and len(self._text) <= LONG:
            shown: RenderableType = ModelMarkdown(self._text)
        else:
            shown = words("\n".join(lines[-room:])[-LONG:])
        for line in console.render_lines(shown, options, pad=False)[-room:]:
            yield from line
            yield Segment.line()


_MARKS = {
    UseState.RUNNING: ("… ", FAINT),
    UseState.DONE: ("✓ ", "green"),
    UseState.FAILED: ("✗ ", "red"),
    UseState.STOPPED: ("■ ", "yellow"),
}


def skill_line(use: SkillUse) -> Text:
    what = f"{use.path} of" if use.path else ""
    took = f", {use.duration_ms:,} ms" if use.duration_ms is not None else ""
    why = f": {use.output.partition(chr(10))[0][:200]}" if use.state is UseState.FAILED and use.output else ""
    said = " ".join(part for part in (use.how, what) if part)
    return Text.assemble(
        _MARKS[use.state],
        (clean(f"{said} "), FAINT),
        (clean(use.skill), "bold"),
        (clean(f"{took}{why}"), FAINT),
    )


def print_end(message: Message, out: Console, *, hint: str = "") -> None:
    """Below an answer: what was wrong with it, and what it took."""
    if message.error:
        out.print(problem_text(message.error))
    elif message.status in ENDED:
        out.print(words(ENDED[message.status], "yellow"))
    if hint and message.status.can_resume:
        out.print(words(hint, FAINT))
    if line := footer(message):
        out.print(words(line, FAINT))


def print_message(message: Message, name: str, out: Console) -> None:
    """One that was said before."""
    if message.role is Speaker.USER:
        out.print(Text.assemble(("you ▸ ", "bold blue"), clean(message.text)))
        out.print()
        return
    out.print(words(f"{name} ▸", "bold"))
    for use in message.answer.skills_used if message.answer else ():
        out.print(skill_line(use))
    if message.text.strip():
        out.print(ModelMarkdown(message.text))
    print_end(message, out)
    out.print()


def print_conversation(session: Session, messages: Sequence[Message], name: str, out: Console) -> None:
    out.print(words(session.title, "bold"))
    out.print(words(f"{session.id} · {len(messages)} messages · {dollars(session.cost_micros)}", FAINT))
    out.print()
    for message in messages:
        print_message(message, name, out)


def sessions_table(
    sessions: Iterable[Session], *, current: str | None = None, is_numbered: bool = False
) -> Table:
    rows = table(*["#"] * is_numbered, "TITLE", "MESSAGES", "COST", "LAST", "ID", wrapped={"TITLE"})
    at = now()
    for number, session in enumerate(sessions, start=1):
        title = words(session.title, "bold" if session.id == current else "")
        if session.is_answering:
            title = Text.assemble(title, "  ", dot("running"))
        rows.add_row(
            *[str(number)] * is_numbered,
            title,
            str(session.messages),
            dollars(session.cost_micros),
            ago(session.updated_at, at),
            words(session.id),
        )
    return rows


def hits_page(hits: Iterable[SearchHit]) -> RenderableType:
    at = now()
    parts: list[RenderableType] = []
    for hit in hits:
        who = "you" if hit.role is Speaker.USER else "bot"
        head = (clean(hit.session_title), "bold")
        when = (f"  {who}, {ago(hit.created_at, at)}  {hit.session_id}", FAINT)
        parts.append(Text.assemble(head, when, "\n  ", marked(hit.excerpt)))
    return Group(*parts)


def marked(excerpt: str) -> Text:
    """The words that were looked for stand out."""
    text = Text()
    for piece in clean(excerpt).replace("⟦", "⟧⟦").split("⟧"):
        text.append(piece.removeprefix("⟦"), "bold yellow" if piece.startswith("⟦") else "")
    return text
