"""Escape untrusted paths for display, and format counts and lists of names."""

import re
from collections.abc import Sequence

_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(\\|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_BYTE = 0xDC00
"""Offset of the surrogates that stand for bytes that are not UTF-8 (PEP 383)."""


def escape_path(path: str) -> str:
    """Escape line breaks, control characters, backslashes and bytes that are not UTF-8."""
    return _ODD.sub(lambda found: _escape(found.group()), path)


def unescape_path(text: str) -> str:
    """Reverse `escape_path`. Unknown escapes are kept, so that a plain name stays the same."""
    if "\\" not in text:
        return text
    path = _ESCAPED.sub(lambda found: _unescape(found.group(1)), text)
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate, which no file name contains
        return path


def is_same_path(given: str, path: str) -> bool:
    """Compare two paths, each either raw or escaped."""
    return given == path or not {given, unescape_path(given)}.isdisjoint((path, unescape_path(path)))


def _escape(character: str) -> str:
    code = ord(character)
    if character == "\\":
        return "\\\\"
    if _BYTE + 0x80 <= code <= _BYTE + 0xFF:
        return f"\\x{code - _BYTE:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"


def _unescape(escape: str) -> str:
    if escape == "\\":
        return escape
    code = int(escape[1:], 16)
    return chr(_BYTE + code if escape[0] == "x" and code >= 0x80 else code)


def format_count(count: int, unit: str) -> str:
    """Format a count with its unit, given in the plural: `1 file`, `2,000 files`."""
    if count != 1:
        return f"{count:,} {unit}"
    return f"1 {unit.removesuffix('ies')}y" if unit.endswith("ies") else f"1 {unit.removesuffix('s')}"


def join_names(names: Sequence[str], most: int) -> str:
    """Join names up to a limit: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
