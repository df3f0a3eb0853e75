"""Check what a `pip install` installs: packages from the registry, or a project, whose code is executed.

A requirements file can contain everything that is refused in a command: other registries, packages that must be
built, projects and URLs. So it is checked before pip reads it, line by line as pip does, together with the files it
includes.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from os.path import realpath
from pathlib import Path

from forge.errors import Denied, NotFound
from forge.workspace.filesystem.files import Files

MAX_FILES = 50
MAX_BYTES = 1_000_000
MAX_SHOWN = 60
BUILD_HERE = ("--no-index", "--no-build-isolation")
"""Build with installed packages only, so that nothing is downloaded while code of the project runs."""

_FILES = ("-r", "--requirement", "-c", "--constraint")
_TAKE_VALUES = (*_FILES, "--upgrade-strategy", "--progress-bar")
_EDITABLE = ("-e", "--editable")
_ARCHIVE = re.compile(r"\.(zip|whl|tar|tar\.\w+|t[abglx]z2?)(\[[^][]*\])?$", re.IGNORECASE)
_VERSION = r"(===?|~=|!=|[<>]=?) *[\w.*+!-]+"
_VERSIONS = f"{_VERSION}( *, *{_VERSION})*"
_REQUIREMENT = re.compile(
    rf"""\w[\w.-]* *(\[[\w., -]*\])? *({_VERSIONS},?|\( *{_VERSIONS} *\))? *(;[\w .,'"()<>=!~*+-]*)?""",
    re.ASCII,
)
_COMMENT = re.compile(r"(?:^|\s)#")
_ENCODING = re.compile(r"coding[:=]\s*(?!utf-?8\b)[-\w.]", re.IGNORECASE)
_HASHES = re.compile(r"(--hash[= ]\w+:\w+ ?)+", re.ASCII)
_HARMLESS = re.compile(r"--pre|--prefer-binary|--require-hashes|--only-binary[= ]:all:")
_ANOTHER = re.compile(r"(?:(?:-r|-c) *|--(?:requirement|constraint)(?: +|=))([\w.][\w./-]*)", re.ASCII)


class RequirementRefused(Denied):
    """A requirements file asks for something other than packages from the registry."""


def names_a_project(words: Sequence[str]) -> bool:
    """Return whether these arguments of `pip install` name a folder or an archive."""
    return any(
        option in _EDITABLE or (not option and _is_path_or_url(value)) for option, value in _arguments(words)
    )


def check_requirements(words: Sequence[str], files: Files) -> None:
    """Check all requirements files named by these arguments."""
    root = f"{files.root.resolve()}/"
    waiting = [value.removeprefix(root) for option, value in _arguments(words) if option in _FILES]
    seen: set[str] = set()
    while waiting:
        path = _plain(waiting.pop(), files.root)
        if path in seen:
            continue
        seen.add(path)
        if len(seen) > MAX_FILES:
            raise RequirementRefused(f"There are more than {MAX_FILES} requirements files.")
        waiting += _named_by(path, _read(path, files))


def _arguments(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options with values; positional arguments have an empty name."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            yield "", word
        elif name in _TAKE_VALUES:
            yield name, value if equals else next(rest, "")
        else:
            yield name, value


def _is_path_or_url(word: str) -> bool:
    return "/" in word or word.startswith(".") or bool(_ARCHIVE.search(word))


def _plain(path: str, root: Path) -> str:
    """Normalize `..`; refuse it after a link, where it would refer to another file."""
    plain = posixpath.normpath(path)
    if realpath(root / posixpath.dirname(path)) != realpath(root / posixpath.dirname(plain)):
        raise RequirementRefused(f"{path[:MAX_SHOWN]!r} leads through a link.")
    return plain


def _read(path: str, files: Files) -> str:
    """Read a file; empty if it does not exist, which pip reports itself."""
    try:
        found = files.read(path, limit=MAX_BYTES)
        if found.hash is None:
            raise RequirementRefused(f"{path!r} is too large for a requirements file ({found.size:,} bytes).")
        text = found.data.decode("utf-8-sig")
    except NotFound:
        return ""
    except UnicodeDecodeError as error:
        raise RequirementRefused(f"{path!r} is not UTF-8.") from error
    if any(line.startswith("#") and _ENCODING.search(line) for line in text.split("\n")[:2]):
        raise RequirementRefused(f"{path!r} declares an encoding other than UTF-8.")
    return text


def _named_by(path: str, text: str) -> Iterator[str]:
    """Yield the files it includes; raises for the first refused line."""
    for number, joined in _joined(text.splitlines()):
        line = _without_comment(joined)
        if another := _ANOTHER.fullmatch(line):
            yield posixpath.join(posixpath.dirname(path), another[1])
        elif line and not _HARMLESS.fullmatch(line) and (why := _why_not(line)):
            raise RequirementRefused(
                f"{path}, line {number}: {line[:MAX_SHOWN]!r} {why}",
                hint="Only packages from the registry can be installed from a file.",
            )


def _without_comment(line: str) -> str:
    """Remove a comment and collapse white space."""
    comment = _COMMENT.search(line)
    return " ".join((line[: comment.start()] if comment else line).split())


def _joined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Join lines that end with a backslash, except comments."""
    begun, parts = 0, list[str]()
    for number, line in enumerate(lines, 1):
        begun = begun if parts else number
        is_comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not is_comment:
            parts.append(line.strip("\\"))
            continue
        yield begun, "".join([*parts, f" {line}" if is_comment else line])
        parts = []
    if parts:
        yield begun, "".join(parts)


def _why_not(line: str) -> str | None:
    requirement, *options = re.split(r" (?=-)", line, maxsplit=1)
    if line.startswith("-") and not line.startswith(_EDITABLE):
        return "is an option that is not allowed."
    if line.startswith(_EDITABLE) or _is_path_or_url(requirement.partition(";")[0].strip()):
        return (
            "is not from the registry. Remove the line; install the project afterwards in a separate command."
        )
    if not _REQUIREMENT.fullmatch(requirement) or (options and not _HASHES.fullmatch(options[0])):
        return "is not a package name with versions."
    return None
