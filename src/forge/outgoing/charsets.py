"""The text of an answer, in the encoding it says it has."""

import re

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([a-z0-9_.:-]+)", re.IGNORECASE)
_CHARSETS = frozenset(
    {"utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-2", "iso-8859-15", "windows-1251", "windows-1252"}
    | {"shift_jis", "euc-jp", "euc-kr", "gb18030", "gbk", "big5", "koi8-r"}
)
"""Of pages. Python knows more, some of which take very long."""


def decode(body: bytes, content_type: str) -> str:
    found = _CHARSET.search(content_type)
    charset = found[1].lower() if found else "utf-8"
    return body.decode(charset if charset in _CHARSETS else "utf-8", "replace")
