"""Parse claims: the files that a change is meant to touch."""

import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from forge.audits.display_text import escape_path, unescape_path
from forge.audits.snapshot import Claims
from forge.errors import Invalid, TooLarge

RENAME_SEPARATOR = "=>"
LIST_PREFIX = "@"
STDIN = "-"
MAX_LIST = 16 << 20
"""The maximum size of a claims file."""
_SEPARATORS = {",": "\\x2c", RENAME_SEPARATOR: "\\x3d\\x3e"}


def split_claims(text: str) -> list[str]:
    """Split `a.py, src/b.py`. A comma in a name is written as the escape `\\x2c`."""
    return [_valid(claim) for claim in text.split(",")]


def read_claims_option(text: str) -> list[str]:
    """Read the value of --claimed-files: a list, `@FILE` with one claim per line or NUL-terminated names, or `@-` for stdin.

    Reads local files, so it must never be used on input from the network."""
    if not text.startswith(LIST_PREFIX):
        return split_claims(text)
    data = _read_list(text.removeprefix(LIST_PREFIX))
    if b"\0" in data:
        return [write_claim(name) for name in _decoded(data).split("\0") if name]
    lines = _decoded(data.removeprefix(b"\xef\xbb\xbf")).split("\n")
    return [_valid(line.removesuffix("\r")) for line in lines if line.strip()]


def write_claim(path: str) -> str:
    """Escape a path so that it can be part of a claim list."""
    text = escape_path(path)
    for separator, escape in _SEPARATORS.items():
        text = text.replace(separator, escape)
    if text.startswith(LIST_PREFIX):
        text = f"\\x40{text[1:]}"
    end = len(text.rstrip())
    start = min(end, len(text) - len(text.lstrip()))
    return _spaces(text[:start]) + text[start:end] + _spaces(text[end:])


def write_claims(claims: Claims) -> str:
    """Format claims for the command line."""
    renamed = {name for pair in claims.renames.items() for name in pair}
    renames = [
        f"{write_claim(old)}{RENAME_SEPARATOR}{write_claim(new)}" for old, new in claims.renames.items()
    ]
    return ",".join(sorted([*renames, *map(write_claim, claims.files - renamed)]))


def read_claims(claims: Iterable[str]) -> Claims:
    """Parse claims; `old.py=>new.py` claims both files and plans the rename. `resolve_claims` handles backslashes."""
    files: set[str] = set()
    renames: dict[str, str] = {}
    for claim in claims:
        old, is_rename, new = claim.partition(RENAME_SEPARATOR)
        names = [name for part in (old, new) if (name := _normal(part))]
        files.update(names)
        if is_rename:
            if len(names) != 2:
                raise Invalid(
                    f"The claim {claim.strip()!r} is an incomplete rename.", hint="Write old.py=>new.py."
                )
            renames[names[0]] = names[1]
    if not files:
        raise Invalid("No file is claimed.", hint='List the changed files: --claimed-files "a.py,src/b.py".')
    return Claims(frozenset(files), renames)


def resolve_claims(claims: Claims, *known: Collection[str]) -> Claims:
    """Resolve backslashes in claims against known paths.

    A backslash may start an escape, be part of a name or separate folders: the first reading that is a known path wins."""

    def meant(name: str) -> str:
        if "\\" not in name:
            return name
        apart = _joined(name.replace("\\", "/")) or name
        names = (unescape_path(name), name, apart)
        return next((each for paths in known for each in names if each in paths), apart)

    return Claims(
        frozenset(map(meant, claims.files)), {meant(old): meant(new) for old, new in claims.renames.items()}
    )


def _normal(path: str) -> str:
    """Normalize a claimed path; raise Invalid if it is absolute or contains `..`."""
    text = path.strip()
    if text.startswith("/") or ".." in text.replace("\\", "/").split("/"):
        raise Invalid(
            f"The claim {text!r} is outside the project.", hint="Use paths relative to the project."
        )
    return _joined(text)


def _joined(text: str) -> str:
    return "/".join(part for part in text.split("/") if part not in ("", "."))


def _spaces(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


def _valid(claim: str) -> str:
    """Escape bytes that are not UTF-8, as a request is text."""
    return escape_path(claim) if any("\ud800" <= sign <= "\udfff" for sign in claim) else claim


def _read_list(name: str) -> bytes:
    try:
        if name == STDIN:
            data = sys.stdin.buffer.read(MAX_LIST + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_LIST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a valid file name"
        raise Invalid(
            f"Cannot read the list of claims {escape_path(name)!r}: {why}.",
            hint="--claimed-files @FILE reads claims from a file, @- from standard input.",
        ) from error
    if len(data) > MAX_LIST:
        raise TooLarge(f"The list of claims is larger than {MAX_LIST >> 20} MB.")
    return data


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
