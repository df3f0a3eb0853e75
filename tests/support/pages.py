"""Parse documentation pages into blocks, commands, links and headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


@dataclass(frozen=True)
class CommandExample:
    """A command and the output shown for it; empty if the page shows none."""

    command: str
    output: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int
    before: str  # the paragraph it follows

    @property
    def file(self) -> str | None:
        """The file to write the block to, named in the paragraph before it: "Write `morning.yaml`:"."""
        match = re.search(r"`([\w./-]+\.\w+)`:$", self.before)
        return match[1] if match and self.kind not in ("sh", "console") else None

    def commands(self) -> Iterator[CommandExample]:
        if self.kind == "sh":
            yield from map(CommandExample, _whole_lines(self.text))
        elif self.kind == "console":
            for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
                command, *output = part.replace("\\\n", " ").splitlines()
                yield CommandExample(_plain(command), tuple(filter(None, output)))


def _whole_lines(text: str) -> Iterator[str]:
    """Yield commands; join lines continued with a backslash, and here documents."""
    lines = iter(text.replace("\\\n", " ").splitlines())
    for line in lines:
        if match := HEREDOC.search(line):
            document = [line]
            while document[-1] != match[1]:
                document.append(next(lines))
            yield "\n".join(document)
        elif command := _plain(line):
            yield command


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"(^|\s+)# .*", "", line)).strip()


@dataclass(frozen=True)
class Page:
    path: Path

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def blocks(self) -> list[Block]:
        match = re.finditer(r"^```(\w*)\n(.*?)^```$", self.text, re.DOTALL | re.MULTILINE)
        return [
            Block(
                match[1],
                match[2],
                self.text.count("\n", 0, match.start()) + 1,
                self.text[: match.start()].strip().rpartition("\n\n")[2],
            )
            for match in match
        ]

    @property
    def prose(self) -> str:
        """The text without code blocks."""
        return re.sub(r"^```.*?^```$", "", self.text, flags=re.DOTALL | re.MULTILINE)

    @property
    def links(self) -> list[str]:
        return re.findall(r"\]\(([^)\s]+)\)", self.prose)

    @property
    def anchors(self) -> set[str]:
        """The anchors of the headings, as GitHub creates them."""
        headings = re.findall(r"^#+ (.+)$", self.prose, re.MULTILINE)
        texts = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
        return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in texts}

    def commands(self) -> Iterator[str]:
        for block in self.blocks:
            for example in block.commands():
                yield example.command


PAGES = [
    Page(path)
    for path in (
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "benchmarks/results").glob("*.md")),
    )
]
