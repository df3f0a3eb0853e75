"""Normalize route paths of all frameworks, so that they can be compared.

Every parameter becomes `{}`, regardless of name and type. A trailing slash is removed: FastAPI and Flask redirect it,
Express ignores it.
"""

import re

from forge.audits.facts.models import UNKNOWN

PARAMETER = "{}"
_MAX_FORMS = 16
_NAME = re.compile(r"[A-Za-z_]\w*")
_SLASHES = re.compile(r"/{2,}")
_UNKNOWNS = re.compile(rf"{UNKNOWN}{{2,}}")


def normal_paths(path: str) -> tuple[str, ...]:
    """Return the normalized forms of a path, usually one; `/users/:id?` has two."""
    forms = [""]
    at = 0
    while at < len(path):
        end, options = _piece(path, at)
        forms = [form + option for form in forms for option in options][:_MAX_FORMS]
        at = end
    return tuple(dict.fromkeys(_tidy(form) for form in forms))


def _piece(path: str, at: int) -> tuple[int, tuple[str, ...]]:
    """Return the end of the piece that begins here, and its normalized forms."""
    match path[at]:
        case "<":
            end = path.find(">", at)
            return (end + 1, (PARAMETER,)) if end > 0 else (at + 1, ("<",))
        case "{":
            end = _closing(path, at, "{", "}")
            inner = path[at + 1 : end - 1]
            return (end, ("", normal_paths(inner)[0])) if inner.startswith("/") else (end, (PARAMETER,))
        case "(":
            return _closing(path, at, "(", ")"), (PARAMETER,)
        case "*":
            name = _NAME.match(path, at + 1)
            return (name.end() if name else at + 1), (PARAMETER,)
        case ":" if at == 0 or path[at - 1] in "/-.":
            return _colon(path, at)
        case character:
            return at + 1, (character,)


def _colon(path: str, at: int) -> tuple[int, tuple[str, ...]]:
    """Express: `:id`, `:id(\\d+)`, `:id?`."""
    name = _NAME.match(path, at + 1)
    if name is None:
        return at + 1, (":",)
    end = name.end()
    if path.startswith("(", end):
        end = _closing(path, end, "(", ")")
    modifier = path[end : end + 1]
    if modifier and modifier in "?*+":
        return end + 1, ("", PARAMETER) if modifier != "+" else (PARAMETER,)
    return end, (PARAMETER,)


def _closing(path: str, at: int, opening: str, closing: str) -> int:
    depth = 0
    for place in range(at, len(path)):
        depth += (path[place] == opening) - (path[place] == closing)
        if depth == 0:
            return place + 1
    return len(path)


def _tidy(path: str) -> str:
    path = _UNKNOWNS.sub(UNKNOWN, _SLASHES.sub("/", path)).rstrip("/")
    return path if path.startswith(("/", UNKNOWN)) else f"/{path}"


def joined_path(*parts: str) -> str:
    """Join paths, with a slash between parts that lack one, like Flask and Express."""
    whole = ""
    for part in parts:
        needs_one = part and whole and not whole.endswith("/") and not part.startswith(("/", UNKNOWN))
        whole += f"/{part}" if needs_one else part
    return whole


def may_be(pattern: str, path: str) -> bool:
    """Return whether a pattern with unknown parts can match a path."""
    first, *middle, last = pattern.split(UNKNOWN) if UNKNOWN in pattern else (pattern, pattern)
    if UNKNOWN not in pattern:
        return pattern == path
    if len(path) < len(first) + len(last) or not path.startswith(first) or not path.endswith(last):
        return False
    at = len(first)
    for part in middle:
        found = path.find(part, at, len(path) - len(last))
        if found < 0:
            return False
        at = found + len(part)
    return True


def is_below(path: str, prefix: str) -> bool:
    """Return whether a mount at the prefix receives requests for the path."""
    whole = f"{prefix.rstrip('/')}/"
    return path == prefix or (
        may_be(f"{whole}{UNKNOWN}", f"{path}/") if UNKNOWN in prefix else path.startswith(whole)
    )


def is_anything(path: str) -> bool:
    """Return whether a path is completely unknown or a catch-all."""
    return not path.replace(UNKNOWN, "").replace(PARAMETER, "").strip("/") and path != "/"


def shown_path(path: str) -> str:
    return path.replace(UNKNOWN, "…")
