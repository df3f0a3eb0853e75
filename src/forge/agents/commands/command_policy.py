"""Decide which commands an agent may run, by the program and its arguments.

This gives early and clear feedback. The security boundary is the sandbox, which also contains tests, build
scripts and errors in this table. A command line is split into words once and executed as these words,
without a shell.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from forge.agents.commands.command_rules import COMMANDS, TESTS, Rest, Rule, Runner
from forge.agents.commands.requirements import BUILD_HERE, names_a_project
from forge.errors import Denied
from forge.sandbox.models import Network

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
    """The command line cannot be split into words."""


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
    """The current word, None between words."""
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
            raise _needs_a_shell(character, "Use single quotes for the literal character.")
        else:
            self._add(character)

    def _bare(self, character: str) -> None:
        if character in _BLANKS:
            self._end_word()
        elif character in "'\"":
            self.quote = character
            self._add("")
        elif character in _SYNTAX:
            raise _needs_a_shell(character, "Quote it for the literal character.")
        elif character == "#" and self.word is None:
            raise NotACommand("Comments (#) are not supported; quote it for the literal character.")
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


_PATHS = re.compile(r"(?:^|[=:,@]|^-\w+)(?=/)|(?:^|[=:])(?=~)")
"""Start of an absolute or home path, also in the value of an option."""
_CLIMBS = re.compile(r"(?:^|[=:,@/])\.\.(?:/|$)|^-\w+\.\.(?:/|$)")
_ADDRESS = re.compile(r"(?:^|[=,@ ])\w[\w+.-]*://|^git@", re.ASCII)
_ASSIGNMENT = re.compile(r"\w+\+?=")
_AT_IS_A_NAME = ("git", "npm")
"""For other programs `@name` may be a file with arguments."""
MAX_SHOWN = 60


class CommandRefused(Denied):
    """The command or one of its arguments is not allowed."""


@dataclass(frozen=True)
class Allowed:
    argv: tuple[str, ...]
    network: Network
    runner: Runner | None
    begin: int
    """Number of words of the rule, after which our options are inserted."""
    in_environment: bool

    @property
    def builds_a_project(self) -> bool:
        return self.in_environment and self.network is Network.NONE

    def with_options(self, options: tuple[str, ...]) -> "Allowed":
        """Add options for the test runner: first, or at the end of the arguments of an npm script."""
        if self.runner is not Runner.NPM:
            return replace(self, argv=(*self.argv[: self.begin], *options, *self.argv[self.begin :]))
        passed_on = () if "--" in self.argv or not options else ("--",)
        return replace(self, argv=(*self.argv, *passed_on, *options))


class _Policy:
    """Rules by program."""

    def __init__(self, tool: str, rules: Iterable[Rule]) -> None:
        self._tool = tool
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(rule.words[0], []).append(rule)

    def allow(self, command: str, root: Path) -> Allowed:
        try:
            words = split(command)
        except NotACommand as error:
            raise CommandRefused(str(error)) from error
        _check_program(words[0])
        rule = self._find(words)
        count = len(rule.words)
        runs = tuple(words[:count]) if rule.words[-1].endswith("*") else rule.runs
        _check_words(words[count:], rule, root)
        argv = (*runs, *words[count:])
        found = Allowed(argv, rule.network, rule.runner, len(runs), rule.in_environment)
        return _building(found) if found.in_environment and names_a_project(words[count:]) else found

    def _find(self, words: list[str]) -> Rule:
        """Find the matching rule with the longest beginning."""
        fitting = [rule for rule in self._rules.get(words[0], ()) if _begins(words, rule)]
        if not fitting:
            raise CommandRefused(f"{_shown(words)} is not allowed.", hint=self._hint)
        return max(fitting, key=lambda rule: len(rule.words))

    @cached_property
    def _hint(self) -> str:
        """Summarize the allowed commands, such as `git status|diff|log|show`."""
        groups: dict[str, list[str]] = {}
        for program, rules in self._rules.items():
            for rule in rules:
                *before, last = rule.words
                if not program.endswith("3"):
                    groups.setdefault(" ".join(before), []).append(last)
        parts = [f"{before} {'|'.join(last)}" for before, last in groups.items() if before]
        return f"{self._tool} accepts: {', '.join([*groups.get('', []), *parts])}."


_TESTS = _Policy("run_tests", TESTS)
_COMMANDS = _Policy("run_command", (*COMMANDS, *TESTS))
"""run_command accepts tests as well."""


def allow_tests(command: str, root: Path) -> Allowed:
    return _TESTS.allow(command, root)


def allow_command(command: str, root: Path) -> Allowed:
    return _COMMANDS.allow(command, root)


def _building(allowed: Allowed) -> Allowed:
    """Install a project without the registry, because its code is executed."""
    return replace(allowed.with_options(BUILD_HERE), network=Network.NONE)


def _check_program(program: str) -> None:
    if _ASSIGNMENT.match(program):
        raise CommandRefused("Variables cannot be set in front of a command.")
    if "/" in program or "\\" in program:
        raise CommandRefused("Call the program by its bare name, such as pytest.")


def _begins(words: list[str], rule: Rule) -> bool:
    begin = words[: len(rule.words)]
    return len(begin) == len(rule.words) and all(map(_fits, begin, rule.words))


def _fits(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def _check_words(words: Sequence[str], rule: Rule, root: Path) -> None:
    is_passed_on = False
    for word in words:
        _check_paths(word, rule.words[0], root)
        if word == "--" and rule.rest.passes_on:
            is_passed_on = True
        elif is_passed_on:
            continue
        elif word.startswith("-") and word not in ("-", "--"):
            _check_option(word, rule)
        elif not rule.rest.others.fullmatch(word):
            raise CommandRefused(
                f"{_shown([*rule.words, word])} is not allowed: {word[:MAX_SHOWN]!r} is not a valid name."
            )


def _check_paths(word: str, program: str, root: Path) -> None:
    """Refuse paths outside the workspace and URLs."""
    if _ADDRESS.search(word):
        raise CommandRefused(f"{word[:MAX_SHOWN]!r} is a URL; commands have no network except for packages.")
    if word.startswith("@") and program not in _AT_IS_A_NAME:
        raise CommandRefused(f"{word[:MAX_SHOWN]!r}: arguments from a file are not supported.")
    paths = (word[found.end() :] for found in _PATHS.finditer(word))
    if _CLIMBS.search(word) or not all(_is_beneath(path, root) for path in paths):
        raise CommandRefused(
            f"{word[:MAX_SHOWN]!r} leads out of the workspace.", hint="Use paths relative to the workspace."
        )


def _is_beneath(path: str, root: Path) -> bool:
    return path == str(root) or path.startswith(f"{root}/")


def _check_option(word: str, rule: Rule) -> None:
    (name, equals, _), only = word.partition("="), rule.rest.only
    if only is None and not _is_refused(name, rule.rest):
        return
    if only is not None and (f"{name}=" in only or (name in only and not equals)):
        return
    known = only is not None and name in only
    hint = f"Allowed: {' '.join(sorted(option.rstrip('=') for option in only))}." if only else None
    raise CommandRefused(
        f"{name[:MAX_SHOWN]!r} {'takes no value' if known else 'is not allowed'} with {' '.join(rule.words)}.",
        hint=None if known else hint,
    )


def _is_refused(name: str, rest: Rest) -> bool:
    return bool(rest.unlike.fullmatch(name)) or any(_is_meant(name, never) for never in rest.never)


def _is_meant(name: str, never: str) -> bool:
    """Match an option or an abbreviation of it, which many programs accept."""
    if name == never.rstrip("*") or (never.endswith("*") and name.startswith(never[:-1])):
        return True
    return name.startswith("--") and len(name) > len("--") and never.startswith(name)


def _shown(words: Sequence[str]) -> str:
    return f"{' '.join(words[:4])[:MAX_SHOWN]!r}"
