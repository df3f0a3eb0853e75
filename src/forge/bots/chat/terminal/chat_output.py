"""Print conversations, and answers while they are written."""

import math
import sys
from collections.abc import Iterable
from itertools import dropwhile

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.spinner import Spinner
from rich.syntax import Syntax
from rich.text import Text

from forge.bots.chat.footer import footer
from forge.bots.chat.models import (
    Message,
    RetryNote,
    SearchHit,
    Session,
    SkillUse,
    Speaker,
    UseState,
)
from forge.bots.chat.terminal.answer_stream import AnswerView
from forge.bots.models import MessageStatus
from forge.kernel.clock import now
from forge.llm.messages import StopReason
from forge.llm.models import dollars
from forge.runs.run_view import problem_text
from forge.terminal.output import FAINT, Columns, Getter, dot, words
from forge.terminal.text import ago, clean

THEME = "ansi_dark"
"""Uses the colors of the terminal, so that it fits every background."""


class _LeftHeading(Heading):
    """A heading without Rich's centering and box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.text.plain, style="bold underline" if self.tag == "h1" else "bold")


class _CopyableCode(CodeBlock):
    """Code without padding, so that a selection contains only the code."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default")


class ModelMarkdown(Markdown):
    """Markdown written by a model, rendered safely: the URLs of links are shown, because link texts can lie, and HTML is
    shown as text."""

    elements = Markdown.elements | {
        "heading_open": _LeftHeading,
        "fence": _CopyableCode,
        "code_block": _CopyableCode,
        "html_block": _CopyableCode,
    }

    def __init__(self, text: str) -> None:
        super().__init__(clean(text), code_theme=THEME, hyperlinks=False)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "html_inline":
                    child.type = "text"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render without the empty line that Rich puts before a list."""
        return dropwhile(lambda part: part == Segment.line(), super().__rich_console__(console, options))

    @property
    def last_block(self) -> int:
        """The first line of the last block."""
        starts = [token.map[0] for token in self.parsed if token.map and token.level == 0]
        return starts[-1] if starts else 0


def split_complete_blocks(text: str) -> tuple[str, str]:
    """Split into blocks that further text cannot change, and the rest.

    Further text can only change the last block. An incomplete last line is ignored: a `1` may become a list.
    """
    lines = text.split("\n")
    first_open = ModelMarkdown("\n".join(lines[:-1])).last_block
    offset = sum(len(line) + 1 for line in lines[:first_open])
    return text[:offset], text[offset:]


MAX_LIVE_MARKDOWN = 4000
"""Characters of an incomplete block that is rendered as Markdown; a longer one is shown as plain text."""
RETRIED = "The model call was retried. New answer:"
END_MESSAGES = {
    MessageStatus.STOPPED: "The answer was stopped.",
    MessageStatus.INTERRUPTED: "The answer was interrupted.",
    MessageStatus.FAILED: "The answer failed.",
}


CUT_MESSAGES = {
    StopReason.LENGTH: "The answer was cut off at its length limit.",
    StopReason.REPEATED: "The model kept repeating itself, so its answer was stopped.",
}


class QuietView(AnswerView):
    """Shows only lost connections and retries; for callers that print the answer themselves."""

    def retrying(self, note: RetryNote) -> None:
        click.echo(_retry_text(note), err=True)

    def disconnected(self, message: str) -> None:
        click.echo(message, err=True)


class PlainView(QuietView):
    """Writes only the complete text, at the end, because output to pipes and files cannot be taken back."""

    _shown = ""

    def begin(self, shown: str) -> None:
        self._shown = shown

    def skill(self, use: SkillUse) -> None:
        if use.state is not UseState.RUNNING:
            click.echo(skill_line(use).plain, err=True)

    def end(self, text: str) -> None:
        sys.stdout.write(clean(text.removeprefix(self._shown)) + "\n" * (not text.endswith("\n")))
        sys.stdout.flush()


class LiveView(AnswerView):
    """Renders Markdown in a terminal: complete blocks are printed once, the block being written is redrawn."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._live: Live | None = None
        self._printed = ""
        self._rest = ""

    def begin(self, shown: str) -> None:
        self._printed, self._rest = shown, ""
        self._live = Live(_spinner("…"), console=self._out, transient=True, refresh_per_second=10)
        self._live.start()

    def write(self, text: str) -> None:
        """Print a note if the text differs from printed blocks, which stay on the screen."""
        if not text.startswith(self._printed):
            self._out.print(words(RETRIED, "yellow"))
            self._printed = ""
        before, self._rest = self._rest, text[len(self._printed) :]
        complete = ""
        if "\n" in self._rest.removeprefix(before):  # only a new line can complete a block
            complete, self._rest = split_complete_blocks(self._rest)
        self._update(_OpenBlock(self._rest), refresh=bool(complete))
        self._print(complete)

    def thinking(self) -> None:
        if not self._rest:
            self._update(_spinner("thinking …"))

    def skill(self, use: SkillUse) -> None:
        """Print the text before the skill as a block of its own, then the skill."""
        rest, self._rest = self._rest, ""
        self._update(_spinner(f"using {clean(use.skill)} …"))
        self._print(rest)
        if use.state is not UseState.RUNNING:
            self._out.print(skill_line(use))

    def retrying(self, note: RetryNote) -> None:
        self._update(Group(_OpenBlock(self._rest), _Countdown(note)))

    def disconnected(self, message: str) -> None:
        """Show the message inside the live area: output beside it would be drawn over and leave lines behind."""
        self._update(Group(_OpenBlock(self._rest), words(message, "yellow")))

    def end(self, text: str) -> None:
        """Print the rest. A stopped answer may be shorter than what was received of it."""
        if self._live:
            self._live.stop()
            self._live = None
        if not (self._printed + self._rest).startswith(text):
            self.write(text)
        self._print(self._rest)

    def _update(self, shown: RenderableType, *, refresh: bool = False) -> None:
        if self._live:
            self._live.update(shown, refresh=refresh)

    def _print(self, block: str) -> None:
        self._printed += block
        if block.strip():
            self._out.print(ModelMarkdown(block))
            self._out.print()


def _spinner(text: str) -> Spinner:
    return Spinner("dots", Text(f" {text}", FAINT), style=FAINT)


class _OpenBlock:
    """The block that is being written, cut to the height of the terminal."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max(3, console.height - 3)
        lines = self._text.split("\n")
        if len(lines) <= height and len(self._text) <= MAX_LIVE_MARKDOWN:
            content: RenderableType = ModelMarkdown(self._text)
        else:  # redrawn ten times a second, so it must be fast
            content = words("\n".join(lines[-height:])[-MAX_LIVE_MARKDOWN:])
        for line in console.render_lines(content, options, pad=False)[-height:]:
            yield from line
            yield Segment.line()


class _Countdown:
    """A failed attempt, with the seconds to the next one at the time of rendering."""

    def __init__(self, note: RetryNote) -> None:
        self._note = note

    def __rich__(self) -> Text:
        return words(_retry_text(self._note), "yellow")


def _retry_text(note: RetryNote) -> str:
    seconds = math.ceil((note.at - now()).total_seconds())
    when = f"Retrying in {seconds} s" if seconds > 0 else "Retrying now"
    return clean(f"{note.problem.message} {when} (attempt {note.attempt} of {note.attempts}).")


_MARKS = {
    UseState.RUNNING: ("… ", FAINT),
    UseState.DONE: ("✓ ", "green"),
    UseState.FAILED: ("✗ ", "red"),
    UseState.STOPPED: ("■ ", "yellow"),
}


def skill_line(use: SkillUse) -> Text:
    action = f"{use.how} {use.path} of" if use.path else use.how
    duration = f", {use.duration_ms:,} ms" if use.duration_ms is not None else ""
    error = (
        f": {use.output.partition(chr(10))[0][:200]}" if use.state is UseState.FAILED and use.output else ""
    )
    return Text.assemble(
        _MARKS[use.state],
        (clean(f"{action} "), FAINT),
        (clean(use.skill), "bold"),
        (clean(f"{duration}{error}"), FAINT),
    )


def footer_page(message: Message, *, hint: str = "") -> Group:
    """Render why an answer is not complete, and its model, cost and time."""
    lines: list[Text] = []
    if message.error:
        lines.append(problem_text(message.error))
    elif message.status in END_MESSAGES:
        lines.append(words(END_MESSAGES[message.status], "yellow"))
    elif message.answer and (cut := CUT_MESSAGES.get(message.answer.stop or StopReason.END)):
        lines.append(words(cut, "yellow"))
    faint = [hint if message.status.can_resume else "", footer(message)]
    return Group(*lines, *(words(line, FAINT) for line in faint if line))


def message_page(message: Message, name: str) -> Group:
    """Render a message of the history."""
    if message.role is Speaker.USER:
        return Group(Text.assemble(("you ▸ ", "bold blue"), clean(message.text)), Text())
    skills = map(skill_line, message.answer.skills_used if message.answer else ())
    text = [ModelMarkdown(message.text)] if message.text.strip() else []
    return Group(words(f"{name} ▸", "bold"), *skills, *text, footer_page(message), Text())


def conversation_page(session: Session, messages: Iterable[Message], name: str) -> Group:
    facts = f"{session.id} · {session.messages} messages · {dollars(session.cost_micros)}"
    pages = (message_page(message, name) for message in messages)
    return Group(words(session.title, "bold"), words(facts, FAINT), Text(), *pages)


def _title(session: Session) -> Text:
    return Text.assemble(words(session.title), *(("  ", dot("running")) if session.is_answering else ()))


SESSION_COLUMNS: dict[str, Getter[Session]] = {
    "TITLE": _title,
    "MESSAGES": "messages",
    "COST": lambda session: dollars(session.cost_micros),
    "LAST": "updated_at",
    "ID": "id",
}
sessions_table = Columns[Session](SESSION_COLUMNS)


def search_results(hits: Iterable[SearchHit]) -> Group:
    at = now()
    parts: list[Text] = []
    for hit in hits:
        speaker = "you" if hit.role is Speaker.USER else "bot"
        details = f"  {speaker}, {ago(hit.created_at, at)}  {hit.session_id}"
        title = words(hit.session_title, "bold").append(details, FAINT)
        parts += [title, Text("  ").append_text(highlighted(hit.excerpt))]
    return Group(*parts)


def highlighted(excerpt: str) -> Text:
    """Highlight the matching words, which are enclosed in ⟦ and ⟧."""
    text = Text()
    for piece in clean(excerpt).replace("⟦", "⟧⟦").split("⟧"):
        text.append(piece.removeprefix("⟦"), "bold yellow" if piece.startswith("⟦") else "")
    return text
