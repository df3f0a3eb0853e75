"""The sections of a soul's text: what one says, and the text with another one in its place."""

from dataclasses import dataclass

from forge.bots.files.markdown import lines, sections


@dataclass(frozen=True)
class _Place:
    """Where a section's text is, without its heading."""

    start: int
    end: int


def read_section(text: str, title: str) -> str | None:
    """None when there is no such heading."""
    place = _find(text, title)
    return None if place is None else text[place.start : place.end].strip()


def replace_section(text: str, title: str, content: str) -> str:
    """The same text with another one below this heading; a heading that is missing comes to the end."""
    place = _find(text, title)
    if place is None:
        before = text.rstrip()
        return (
            f"{before}\n\n# {title}\n\n{content.strip()}\n" if before else f"# {title}\n\n{content.strip()}\n"
        )
    rest = text[place.end :]
    before = text[: place.start].rstrip()
    return f"{before}\n\n{content.strip()}\n" + (f"\n{rest}" if rest else "")


def add_to_section(text: str, title: str, paragraph: str) -> str:
    said = read_section(text, title)
    return replace_section(text, title, "\n\n".join(part for part in (said, paragraph.strip()) if part))


def _find(text: str, title: str) -> _Place | None:
    found = sections(text)
    at = next(
        (n for n, one in enumerate(found) if one.title.rstrip(":").casefold() == title.casefold()), None
    )
    if at is None:
        return None
    starts = {line.number: line.start for line in lines(text)}
    behind = next((one.line for one in found[at + 1 :] if one.level <= found[at].level), None)
    return _Place(
        start=starts.get(found[at].line + 1, len(text)), end=len(text) if behind is None else starts[behind]
    )
