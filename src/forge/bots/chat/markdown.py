"""Markdown of a model in a terminal: safe, to be copied from, and printable piece by piece while it is written."""

from itertools import dropwhile

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from forge.terminal.text import clean

THEME = "ansi_dark"
"""The colours of the terminal itself, whatever its background is."""


class _PlainHeading(Heading):
    """On the left, as the text around it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.text.plain, style="bold underline" if self.tag == "h1" else "bold")


class _CopyableCode(CodeBlock):
    """Nothing before and behind the lines: what is selected is the code."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default")


class ModelMarkdown(Markdown):
    """Addresses of links are shown, since the words of a link may claim another; HTML is shown as what it is: text."""

    elements = Markdown.elements | {
        "heading_open": _PlainHeading,
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
        """Without the empty line that a list would begin with."""
        return dropwhile(lambda part: part == Segment.line(), super().__rich_console__(console, options))

    @property
    def last_block(self) -> int:
        """The line the last block of all begins with."""
        starts = [token.map[0] for token in self.parsed if token.map and token.level == 0]
        return starts[-1] if starts else 0


def split_settled(text: str) -> tuple[str, str]:
    """What can be printed for good, and the rest: more text can only change the last block. A line that is not whole
    says nothing yet: a `1` may become a list."""
    lines = text.split("\n")
    begun = ModelMarkdown("\n".join(lines[:-1])).last_block
    place = sum(len(line) + 1 for line in lines[:begun])
    return text[:place], text[place:]
