"""Paths of a repository as people see them: any bytes can be a name, and a name can lie about being one."""

import re

_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(\\|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_BYTE = 0xDC00
"""A byte that is no UTF-8 is the character of this number and its own (PEP 383)."""


def shown(path: str) -> str:
    """Line breaks, controls, backslashes and bytes that are no UTF-8 as escapes: one name, one line, valid UTF-8."""
    return _ODD.sub(lambda found: _escape(found.group()), path)


def unshown(text: str) -> str:
    """The path that is shown so. What is no escape of ours stays as it is, so that a plain name is itself."""
    if "\\" not in text:
        return text
    path = _ESCAPED.sub(lambda found: _unescape(found.group(1)), text)
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a pair: no name of a file has one
        return path


def same_path(given: str, path: str) -> bool:
    """Whether somebody means this path, each as it is or as it is shown."""
    return given == path or not {given, unshown(given)}.isdisjoint((path, unshown(path)))


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
