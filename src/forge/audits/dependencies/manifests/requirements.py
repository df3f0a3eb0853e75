"""Read requirements files like pip: continuations, comments, options, includes, hashes and encodings."""

import codecs
import re
from collections.abc import Iterator

from forge.audits.dependencies.manifests.models import Declared, Group, Include, Manifest, Problem, broken
from forge.audits.dependencies.manifests.requirement_name import is_location, requirement_name

MAX_PROBLEMS = 5
MAX_LINES = 50_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_TRAILING_OPTION = re.compile(r"[ \t]--?[A-Za-z]")
_INCLUDE = re.compile(r"(?:-r[ \t]*|--requirement(?:[ \t]+|[ \t]*=[ \t]*))(.+)")
_EDITABLE = re.compile(r"(?:-e[ \t]*|--editable(?:[ \t]+|[ \t]*=[ \t]*))(.+)")


def read_requirements(data: bytes, group: Group = Group.RUNTIME) -> Manifest:
    """Read a requirements file. `group` comes from its name; an including file may override it."""
    text = _decode(data)
    if text is None:
        return broken("it is neither UTF-8 nor marked as UTF-16")
    if text.count("\n") > MAX_LINES:
        return broken(f"it has more than {MAX_LINES:,} lines")
    declared: list[Declared] = []
    includes: list[Include] = []
    problems: list[Problem] = []
    for number, line in _logical_lines(text):
        if found := _INCLUDE.fullmatch(line):
            includes.append(Include(found[1].strip().strip("\"'"), None, number))
            continue
        if found := _EDITABLE.fullmatch(line):
            line = found[1].strip().strip("\"'")
        elif line.startswith("-"):
            continue
        line = _without_options(line)
        name = requirement_name(line)
        if name is not None:
            declared.append(Declared(name, group, "", number))
        elif not is_location(line) and len(problems) < MAX_PROBLEMS:
            problems.append(Problem(f"{line[:60]!r} is not a requirement", number, is_fatal=False))
    return Manifest(tuple(declared), tuple(includes), tuple(problems))


def _decode(data: bytes) -> str | None:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines without comments, with the number of their first line."""
    pieces: list[str] = []
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        start = start if pieces else number
        bare = _COMMENT.sub("", line)
        if bare == line and line.endswith("\\"):
            pieces.append(line[:-1])
            continue
        joined = "".join((*pieces, bare)).strip()
        pieces.clear()
        if joined:
            yield start, joined
    if joined := "".join(pieces).strip():
        yield start, joined


def _without_options(line: str) -> str:
    """Drop options: `name==1 --hash=sha256:…` gives `name==1`."""
    found = _TRAILING_OPTION.search(line)
    return line[: found.start()].rstrip() if found else line
