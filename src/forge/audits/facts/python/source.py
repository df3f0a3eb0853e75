"""Decode Python source like Python does, and parse syntax that the grammar does not support yet."""

import codecs
import re
import unicodedata

from tree_sitter import Node

from forge.audits.facts.parsing import Grammar, parse

_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(rb"[ \t\f]*(#|$)")
_LINE_END = re.compile(rb"\r\n?|\n")
_CODECS = re.compile(
    r"utf-?8(-sig)?|ascii|us-ascii|latin-?\d+|iso-?8859-?\d+|cp\d+|windows-?\d+|koi8-[ru]|shift-?jis|euc-?(jp|kr|cn)|gb\w+|big5"
    r"|mac-?(roman|cyrillic|greek|iceland|turkish|croatian|romanian|latin-?2|centraleurope)|macintosh"
)
_LATIN = ("latin-1-", "iso-8859-1-", "iso-latin-1-")
_WORD = re.compile("[0-9A-Za-z_\x80-\U0010ffff]+")


def as_python_reads(data: bytes) -> bytes:
    """Decode with the declared encoding (PEP 263) and normalize names; return UTF-8 with the same lines."""
    if data.isascii():
        return data
    codec = _declared(data)
    if codec is not None:
        try:
            data = data.decode(codec).encode()
        except (UnicodeDecodeError, LookupError):
            return data
    text = _WORD.sub(_normal, data.decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape")


def _normal(word: re.Match[str]) -> str:
    """Apply NFKC to characters of names only; elsewhere it could create a quote or backslash."""
    text = word[0]
    if text.isascii():
        return text
    pieces = (text,) if _is_in_names(text) else text
    return "".join(unicodedata.normalize("NFKC", one) if _is_in_names(one) else one for one in pieces)


def _is_in_names(text: str) -> bool:
    return f"a{text}".isidentifier()


def disguised_line(data: bytes) -> int | None:
    """Return the line that declares an encoding in which code can hide (UTF-7, unicode_escape), or None."""
    line, name = _cookie(data)
    return line if name is not None and not _CODECS.fullmatch(name) else None


def _declared(data: bytes) -> str | None:
    _, name = _cookie(data)
    return name if name is not None and _CODECS.fullmatch(name) else None


def _cookie(data: bytes) -> tuple[int, str | None]:
    """Return the declared encoding and its line: the first one, or the second if the first has no code."""
    lines = _LINE_END.split(data.removeprefix(codecs.BOM_UTF8), 2)[:2]
    for number, line in enumerate(lines, start=1):
        match = _CODING.match(line)
        if match is not None:
            return number, _codec_named(match[1].decode("ascii", "replace"))
        if not _NO_CODE.match(line):
            break
    return 0, None


def _codec_named(name: str) -> str:
    """Normalize an encoding name like Python; editors add line endings, as in `utf-8-unix`."""
    plain = name.lower().replace("_", "-")
    if f"{plain}-".startswith("utf-8-"):
        return "utf-8"
    return "iso-8859-1" if f"{plain}-".startswith(_LATIN) else plain


_HEAD = re.compile(rb"\b(?:class|def|type)[ \t]+[\w\x80-\xff]+[ \t]*\[")
_TOKEN = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[=!<>:]=|[=\[\](){}]")


def parse_python(source: bytes) -> Node | None:
    """Parse source. On errors, try again with defaults of type parameters (PEP 696) replaced."""
    root = parse(Grammar.PYTHON, source)
    if root is None or not root.has_error:
        return root
    known = _without_defaults(source)
    other = parse(Grammar.PYTHON, known) if known != source else None
    return root if other is None or other.has_error else other


def _without_defaults(source: bytes) -> bytes:
    """Rewrite `class A[T: int = bool]` to `class A[T: int , bool]` (PEP 696), with the same length."""
    text = bytearray(source)
    end = 0
    while (head := _HEAD.search(source, end)) is not None:
        end, defaults = _list_from(source, head.end())
        for at in defaults:
            text[at : at + 1] = b","
    return bytes(text)


def _list_from(source: bytes, start: int) -> tuple[int, list[int]]:
    """Return the end of a list of type parameters and the offsets of its defaults."""
    depth = 1
    defaults: list[int] = []
    for token in _TOKEN.finditer(source, start):
        if token[0] in (b"[", b"(", b"{"):
            depth += 1
        elif token[0] in (b"]", b")", b"}"):
            depth -= 1
        elif token[0] == b"=" and depth == 1:
            defaults.append(token.start())
        if depth == 0:
            return token.end(), defaults
    return len(source), []
