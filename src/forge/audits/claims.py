"""Reading a claim: the files somebody says they changed, however they wrote them down."""

import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from forge.audits.paths import shown, unshown
from forge.audits.snapshot import Claims
from forge.errors import Invalid, TooLarge

RENAME = "=>"
LIST = "@"
STDIN = "-"
MAX_LIST = 16 << 20
"""Bytes of a list of claims."""
_SEPARATORS = {",": "\\x2c", RENAME: "\\x3d\\x3e"}


def split_claims(text: str) -> list[str]:
    """`a.py, src/b.py`. A comma that belongs to a name is written `\\x2c`, as any odd character is."""
    return [_valid(claim) for claim in text.split(",")]


def told_claims(text: str) -> list[str]:
    """Of a command line: as above, or `@FILE` with one claim in each line, or with names that end in NUL; `@-` is the
    standard input. Only for whoever may read that file: never for what comes over the network."""
    if not text.startswith(LIST):
        return split_claims(text)
    data = _read_list(text.removeprefix(LIST))
    if b"\0" in data:
        return [write_claim(name) for name in _decoded(data).split("\0") if name]
    lines = _decoded(data.removeprefix(b"\xef\xbb\xbf")).split("\n")
    return [_valid(line.removesuffix("\r")) for line in lines if line.strip()]


def write_claim(path: str) -> str:
    """One path as it can be claimed among others, whatever is in its name."""
    text = shown(path)
    for separator, escape in _SEPARATORS.items():
        text = text.replace(separator, escape)
    if text.startswith(LIST):
        text = f"\\x40{text[1:]}"
    end = len(text.rstrip())
    start = min(end, len(text) - len(text.lstrip()))
    return _spaces(text[:start]) + text[start:end] + _spaces(text[end:])


def write_claims(claims: Claims) -> str:
    """All of them, as a command line takes them."""
    renamed = {name for pair in claims.renames.items() for name in pair}
    renames = [f"{write_claim(old)}{RENAME}{write_claim(new)}" for old, new in claims.renames.items()]
    return ",".join(sorted([*renames, *map(write_claim, claims.files - renamed)]))


def read_claims(claims: Iterable[str]) -> Claims:
    """Trimmed, `./` is nothing; `old.py=>new.py` claims both and says that the rename is meant. What a backslash means
    is for `settle` to say."""
    files: set[str] = set()
    renames: dict[str, str] = {}
    for claim in claims:
        old, is_rename, new = claim.partition(RENAME)
        names = [name for part in (old, new) if (name := _normal(part))]
        files.update(names)
        if is_rename:
            if len(names) != 2:
                raise Invalid(f"The claim {claim.strip()!r} is half a rename.", hint="Write old.py=>new.py.")
            renames[names[0]] = names[1]
    if not files:
        raise Invalid("No file is claimed.", hint='Say which files changed: --claimed-files "a.py,src/b.py".')
    return Claims(frozenset(files), renames)


def settle(claims: Claims, *known: Collection[str]) -> Claims:
    """A backslash begins an escape as reports have them, or is part of a name, or separates folders: whichever makes a
    name of the first of these collections that has any of them."""

    def meant(name: str) -> str:
        if "\\" not in name:
            return name
        apart = _joined(name.replace("\\", "/")) or name
        names = (unshown(name), name, apart)
        return next((each for paths in known for each in names if each in paths), apart)

    return Claims(
        frozenset(map(meant, claims.files)), {meant(old): meant(new) for old, new in claims.renames.items()}
    )


def _normal(path: str) -> str:
    """Relative, one way to write it; `..` cannot leave the project."""
    text = path.strip()
    if text.startswith("/") or ".." in text.replace("\\", "/").split("/"):
        raise Invalid(f"The claim {text!r} is not inside the project.", hint="Claim relative paths.")
    return _joined(text)


def _joined(text: str) -> str:
    return "/".join(part for part in text.split("/") if part not in ("", "."))


def _spaces(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


def _valid(claim: str) -> str:
    """Bytes that are no UTF-8 as escapes: a request is text."""
    return shown(claim) if any("\ud800" <= sign <= "\udfff" for sign in claim) else claim


def _read_list(name: str) -> bytes:
    try:
        if name == STDIN:
            data = sys.stdin.buffer.read(MAX_LIST + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_LIST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise Invalid(
            f"The list of claims {shown(name)!r} cannot be read: {why}.",
            hint="--claimed-files @FILE reads the claims from a file, @- from the standard input.",
        ) from error
    if len(data) > MAX_LIST:
        raise TooLarge(f"The list of claims has more than {MAX_LIST >> 20} MB.")
    return data


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
