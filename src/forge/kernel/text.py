"""Text from outside, made fit to be stored and sent."""

from pydantic import AfterValidator

from forge.kernel.spelling import Spelling


def _without_nul(text: str) -> str:
    """Neither a file nor a database can be relied on to keep it."""
    if "\x00" in text:
        raise ValueError("must not contain a NUL character")
    return text


NO_NUL = AfterValidator(_without_nul)
"""Behind the other rules of a text: in front of them, they would speak of items instead of characters."""
NOT_BLANK = Spelling(r"\S", "must say something", anywhere=True)


def whole_characters(text: str) -> str:
    """Halves of a character that belong together are joined; one that is alone cannot be encoded and is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def storable(text: str) -> str:
    """As any database takes it: what cannot be kept is replaced, and seen to be."""
    return whole_characters(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def cut(text: str, most: int) -> str:
    """Its beginning, with a mark that more would follow."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cut_line(text: str, most: int) -> str:
    """The same on one line, and no blank before the mark."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
