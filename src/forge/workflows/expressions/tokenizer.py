"""Split expressions into tokens."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from forge.workflows.expressions.errors import ExpressionError

HYPHENATED = {"steps", "secrets"}
"""Roots whose fields may have hyphens in their name; subtracting steps or secrets makes no sense."""


class Kind(Enum):
    NAME = auto()
    TEXT = auto()
    WHOLE = auto()
    NUMBER = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True)
class Token:
    kind: Kind
    text: str
    at: int
    """The offset in the whole text, from 0."""

    def is_sign(self, *signs: str) -> bool:
        return self.kind is Kind.SIGN and self.text in signs


_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-+[A-Za-z0-9_]+)*")
_TEXT = re.compile(
    r"(?P<raw>[rR])?(?:'''(?P<a>(?:[^\\]|\\.)*?)'''|\"\"\"(?P<b>(?:[^\\]|\\.)*?)\"\"\""
    r"|'(?P<c>(?:[^'\\\n\r]|\\.)*)'|\"(?P<d>(?:[^\"\\\n\r]|\\.)*)\")",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")
_WHOLE = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_SIGN = re.compile(r"&&|\|\||==|!=|<=|>=|[-<>!+*/%?:.,|()\[\]{}]")
_PATTERNS = (
    (Kind.TEXT, _TEXT),
    (Kind.NUMBER, _NUMBER),
    (Kind.WHOLE, _WHOLE),
    (Kind.NAME, _NAME),
    (Kind.SIGN, _SIGN),
)
_OPEN, _CLOSE = "([{", ")]}"


def split_tokens(text: str, start: int = 0, *, closed: bool = False) -> list[Token]:
    """Split up to the end of the text or, if `closed`, up to the `}}` that ends the placeholder, where END is."""
    tokens: list[Token] = []
    at, depth = start, 0
    while (at := _skip_space(text, at)) < len(text):
        if closed and depth == 0 and text.startswith("}}", at):
            return [*tokens, Token(Kind.END, "", at)]
        token = _next(text, at, tokens)
        if token.kind is Kind.SIGN:
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        tokens.append(token)
        at += len(token.text)
    if closed:
        raise ExpressionError(
            "A placeholder is not closed: `}}` is missing.",
            column=max(start - 1, 1),
            hint="Write \\{{ for literal braces.",
        )
    return [*tokens, Token(Kind.END, "", at)]


def plain_text(token: Token) -> str | None:
    """Return the value of a string literal; None if it has escapes."""
    found = _TEXT.fullmatch(token.text)
    value = None if found is None else next((found[name] for name in "abcd" if found[name] is not None), None)
    return None if value is None or "\\" in value else value


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _next(text: str, at: int, before: list[Token]) -> Token:
    if _is_after_hyphenated(at, before) and (found := _STEP_NAME.match(text, at)):
        return Token(Kind.NAME, found[0], at)
    if text.startswith("//", at):
        raise ExpressionError("Comments are not supported in expressions.", column=at + 1)
    for kind, pattern in _PATTERNS:
        if found := pattern.match(text, at):
            return Token(kind, found[0], at)
    if text[at] in "'\"":
        raise ExpressionError("A string is not closed: the closing quote is missing.", column=at + 1)
    hint = "Use ==, && and || to compare and combine." if text[at] in "=&" else None
    raise ExpressionError(f"Unexpected character {text[at]!r}.", column=at + 1, hint=hint)


def _is_after_hyphenated(at: int, before: list[Token]) -> bool:
    match before:
        case [*others, root, dot] if root.text in HYPHENATED and dot.is_sign(".") and dot.at + 1 == at:
            return not (others and others[-1].is_sign("."))
        case _:
            return False
