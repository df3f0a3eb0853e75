"""SQL cut into tokens, and a reader that goes over them once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forge.audits.facts.sql_words import KEYWORDS, PLAIN_ENGLISH

_MAX_TOKENS = 400
_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/
    |(?P<value>'[^']*'|\d[\w.]*)
    |(?P<hole>\$\w+|%s|%d|%\(\w+\)s|(?<!:):\w+|\?|@\w+|\{[^{}]*\})
    |(?P<word>(?:[^\W\d][\w$]*|"[^"]*"|`[^`]*`)(?:\.(?:[^\W\d][\w$]*|"[^"]*"|`[^`]*`|\*|\{[^{}]*\}))*)
    |(?P<sign><=|>=|<>|!=|\|\||::|->>|->|@>|<@|&&|[=<>*(),;+\-/%\[\]~^|&])
    |(?P<other>\S)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    low: str

    @property
    def is_name(self) -> bool:
        """Of a table or a column: what may be one, and is no word that makes a sentence."""
        if self.kind == "hole":
            return True
        return self.kind == "word" and self.low not in KEYWORDS and self.low not in PLAIN_ENGLISH

    @property
    def is_operand(self) -> bool:
        return self.is_name or self.kind == "value"

    @property
    def is_surely_a_name(self) -> bool:
        return self.kind == "word" and any(sign in self.text for sign in '_."`')


END = Token("end", "", "")


@dataclass(slots=True)
class Reader:
    tokens: Sequence[Token]
    at: int = 0

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else END

    def next(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def take(self, *words: str) -> bool:
        """All of them in a row, or none."""
        if any(self.peek(ahead).low != word for ahead, word in enumerate(words)):
            return False
        self.at += len(words)
        return True

    def take_any(self, *words: str) -> bool:
        if self.peek().low not in words:
            return False
        self.at += 1
        return True

    def name(self) -> bool:
        if not self.peek().is_name:
            return False
        self.at += 1
        return True

    def group(self) -> list[Token] | None:
        """What is in the parentheses that begin here, to where they end."""
        if not self.take("("):
            return None
        inside, depth = list[Token](), 1
        while self.peek() is not END:
            token = self.next()
            depth += {"(": 1, ")": -1}.get(token.low, 0)
            if not depth:
                break
            inside.append(token)
        return inside

    @property
    def is_at_end(self) -> bool:
        return self.peek() is END


def read_tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        if found.lastgroup is not None:
            tokens.append(Token(found.lastgroup, found[0], found[0].lower()))
        if len(tokens) == _MAX_TOKENS:
            break
    return tokens
