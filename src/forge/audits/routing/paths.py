"""One way to write the path of a route, whatever the framework, so that two of them can be compared.

Every parameter is `{}`: its name and type do not make another route. A trailing slash is no difference: FastAPI and
Flask redirect it away, Express ignores it.
"""

import re

from forge.audits.facts.route_facts import UNKNOWN

PARAMETER = "{}"
_MAX_FORMS = 16
_NAME = re.compile(r"[A-Za-z_]\w*")
_SLASHES = re.compile(r"/{2,}")
_UNKNOWNS = re.compile(rf"{UNKNOWN}{{2,}}")


def normal_paths(path: str) -> tuple[str, ...]:
    """Usually one; `/users/:id?` is two."""
    forms = [""]
    at = 0
    while at < len(path):
        end, options = _piece(path, at)
        forms = [form + option for form in forms for option in options][:_MAX_FORMS]
        at = end
    return tuple(dict.fromkeys(_tidy(form) for form in forms))


def _piece(path: str, at: int) -> tuple[int, tuple[str, ...]]:
    """Where the piece that begins here ends, and what it stands for."""
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
    """A slash between parts that bring none: Flask and Express put it there."""
    whole = ""
    for part in parts:
        needs_one = part and whole and not whole.endswith("/") and not part.startswith(("/", UNKNOWN))
        whole += f"/{part}" if needs_one else part
    return whole


def may_be(pattern: str, path: str) -> bool:
    """Whether a path of which parts are unknown can be this one."""
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
    """Whether something mounted at the prefix would be asked for the path."""
    whole = f"{prefix.rstrip('/')}/"
    return path == prefix or (
        may_be(f"{whole}{UNKNOWN}", f"{path}/") if UNKNOWN in prefix else path.startswith(whole)
    )


def is_anything(path: str) -> bool:
    """Nothing of it is known, or it takes every path there is."""
    return not path.replace(UNKNOWN, "").replace(PARAMETER, "").strip("/") and path != "/"


def shown_path(path: str) -> str:
    return path.replace(UNKNOWN, "…")
