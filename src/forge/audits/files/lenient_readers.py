"""Read TOML, INI and JSON with comments leniently: invalid or missing values are empty."""

import configparser
import re
import tomllib
from typing import cast

import msgspec

from forge.audits.snapshot import MAX_BYTES, Snapshot

Table = dict[str, object]

_JSON_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)', re.DOTALL)
_JSON_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])', re.DOTALL)


def table(value: object) -> Table:
    """Return the value if it is a table, else an empty table."""
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in cast(dict[object, object], value).items() if isinstance(key, str)}


def within(value: object, *keys: str) -> object:
    """Return the nested value under these keys, or None."""
    for key in keys:
        value = table(value).get(key)
    return value


def texts(value: object) -> list[str]:
    """Return a string or a list of strings as a list."""
    if isinstance(value, str):
        return [value]
    return [item for item in items(value) if isinstance(item, str)]


def items(value: object) -> list[object]:
    """Return the value if it is a list, else an empty list."""
    return cast(list[object], value) if isinstance(value, list) else []


def read_text(snapshot: Snapshot, path: str) -> str | None:
    """Read a text file of the tree; None if it is missing, too large or not text."""
    entry = snapshot.tree.entries.get(path)
    if entry is None or not entry.kind.is_file or entry.size > MAX_BYTES:
        return None
    try:
        return snapshot.tree.read(path).decode("utf-8-sig")
    except (UnicodeDecodeError, KeyError, OSError):
        return None


def read_toml(text: str | None) -> Table:
    if text is None:
        return {}
    try:
        return table(tomllib.loads(text))
    except (ValueError, RecursionError):  # not only TOMLDecodeError: a number may have too many digits
        return {}


def read_ini(text: str) -> configparser.RawConfigParser:
    """Parse INI; keys without a value are empty. Raises configparser.Error if it is invalid."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except AttributeError as error:  # before Python 3.13: a continuation line without a value
        raise configparser.ParsingError("text") from error
    for section in (parser.default_section, *parser.sections()):
        for key, value in parser.items(section):
            parser.set(section, key, value or "")
    return parser


def read_json(text: str | None) -> Table:
    """Parse JSON with comments and trailing commas; empty if it is invalid."""
    if text is None:
        return {}
    try:
        return table(msgspec.json.decode(bare_json(text)))
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return {}


def bare_json(text: str) -> str:
    """Remove comments and trailing commas in linear time, even for hostile input."""
    bare = _JSON_PIECE.sub(lambda m: m[0] if m[0][0] == '"' else " ", text)
    return _JSON_COMMA.sub(lambda m: m[0] if m[0][0] == '"' else "", bare)
