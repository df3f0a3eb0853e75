"""Paths of a repository as people see them: any bytes can be a name, and a name can lie about being one."""

import re

_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(path: str) -> str:
    """Line breaks, controls, backslashes and bytes that are no UTF-8 as escapes: one name, one line, valid UTF-8."""
    return _ODD.sub(lambda found: _escape(found.group()), path)


def _escape(character: str) -> str:
    code = ord(character)
    if character == "\\":
        return "\\\\"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
