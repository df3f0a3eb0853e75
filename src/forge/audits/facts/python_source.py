"""The text of a Python file as Python itself reads it: in the encoding it declares, its names in their normal form."""

import codecs
import re
import unicodedata

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
    """As UTF-8, with the same lines. What is declared (PEP 263) counts only where it is needed."""
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
    """NFKC, of what can be in a name alone: of anything else it could make a quote or a backslash that is not there."""
    text = word[0]
    if text.isascii():
        return text
    pieces = (text,) if _is_in_names(text) else text
    return "".join(unicodedata.normalize("NFKC", one) if _is_in_names(one) else one for one in pieces)


def _is_in_names(text: str) -> bool:
    return f"a{text}".isidentifier()


def disguised_line(data: bytes) -> int | None:
    """The line of a declaration with which Python would read other code than anybody sees (UTF-7, unicode_escape)."""
    line, name = _cookie(data)
    return line if name is not None and not _CODECS.fullmatch(name) else None


def _declared(data: bytes) -> str | None:
    _, name = _cookie(data)
    return name if name is not None and _CODECS.fullmatch(name) else None


def _cookie(data: bytes) -> tuple[int, str | None]:
    """The encoding a file names for itself, and the line: the first, or the second where no code is in the first."""
    lines = _LINE_END.split(data.removeprefix(codecs.BOM_UTF8), 2)[:2]
    for number, line in enumerate(lines, start=1):
        match = _CODING.match(line)
        if match is not None:
            return number, _codec_named(match[1].decode("ascii", "replace"))
        if not _NO_CODE.match(line):
            break
    return 0, None


def _codec_named(name: str) -> str:
    """As Python takes it: editors add how lines end, as in `utf-8-unix`."""
    plain = name.lower().replace("_", "-")
    if f"{plain}-".startswith("utf-8-"):
        return "utf-8"
    return "iso-8859-1" if f"{plain}-".startswith(_LATIN) else plain
