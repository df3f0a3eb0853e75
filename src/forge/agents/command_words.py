"""Splits a command line into its words, the way a shell would, and refuses what only a shell could carry out.

Quotes and backslashes mean what they mean in a shell. Everything else a shell does (pipes, redirections, variables,
wildcards, several commands) is refused by name: taken literally it would do something else than was meant.
"""

import unicodedata
from dataclasses import dataclass, field

MAX_CHARS = 4_000
MAX_WORDS = 200

_BLANKS = " \t"
_SYNTAX = {
    ";": "several commands (;)",
    "|": "pipes (|)",
    "&": "background and several commands (&)",
    "<": "redirections (<)",
    ">": "redirections (>)",
    "`": "command substitution (`)",
    "$": "variables and substitution ($)",
    "(": "parentheses",
    ")": "parentheses",
    "{": "braces",
    "}": "braces",
    "*": "wildcards (*)",
    "?": "wildcards (?)",
    "!": "history and negation (!)",
}
_LIVE_IN_DOUBLE_QUOTES = "`$"
_ESCAPED_IN_DOUBLE_QUOTES = '\\"$`'
_NOT_TEXT = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class NotACommand(ValueError):
    """Why this cannot be split into words."""


def split(line: str) -> list[str]:
    _check_characters(line)
    words = _Splitter().split(line)
    if not words:
        raise NotACommand("The command is empty.")
    if len(words) > MAX_WORDS:
        raise NotACommand(f"The command has more than {MAX_WORDS} words.")
    return words


def _check_characters(line: str) -> None:
    if len(line) > MAX_CHARS:
        raise NotACommand(f"The command is longer than {MAX_CHARS:,} characters.")
    for character in line:
        if character != "\t" and unicodedata.category(character) in _NOT_TEXT:
            raise NotACommand(
                f"The command contains a line break or control character ({character!a}). One command, on one line."
            )


@dataclass
class _Splitter:
    words: list[str] = field(default_factory=list[str])
    word: list[str] | None = None
    """The word that is being read, if one has begun."""
    quote: str = ""

    def split(self, line: str) -> list[str]:
        characters = iter(line)
        for character in characters:
            if character == "\\" and self.quote != "'":
                self._escaped(next(characters, None))
            elif self.quote:
                self._quoted(character)
            else:
                self._bare(character)
        if self.quote:
            raise NotACommand(f"A quote ({self.quote}) is not closed.")
        self._end_word()
        return self.words

    def _escaped(self, character: str | None) -> None:
        if character is None:
            raise NotACommand("The command ends with a backslash.")
        if self.quote and character not in _ESCAPED_IN_DOUBLE_QUOTES:
            self._add("\\")
        self._add(character)

    def _quoted(self, character: str) -> None:
        if character == self.quote:
            self.quote = ""
        elif self.quote == '"' and character in _LIVE_IN_DOUBLE_QUOTES:
            raise _needs_a_shell(character, "Use single quotes to mean the character itself.")
        else:
            self._add(character)

    def _bare(self, character: str) -> None:
        if character in _BLANKS:
            self._end_word()
        elif character in "'\"":
            self.quote = character
            self._add("")
        elif character in _SYNTAX:
            raise _needs_a_shell(character, "Quote it to mean the character itself.")
        elif character == "#" and self.word is None:
            raise NotACommand("Comments (#) are not supported; quote it to mean the character itself.")
        else:
            self._add(character)

    def _add(self, text: str) -> None:
        self.word = self.word or []
        self.word.append(text)

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append("".join(self.word))
        self.word = None


def _needs_a_shell(character: str, advice: str) -> NotACommand:
    return NotACommand(f"There is no shell: {_SYNTAX[character]} are not supported. {advice}")
