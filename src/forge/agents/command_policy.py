"""Which commands an agent may run, decided by the program and its arguments, and never by a prefix of the text.

This is early and clear feedback, not the boundary: that is the sandbox, in which every command runs and which holds
whatever a test, a build script or a mistake in this table does. A command is split into words once and executed as
those words; there is no shell at any point.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from forge.agents.command_rules import COMMANDS, TESTS, Rest, Rule, Runner
from forge.agents.command_words import NotACommand, split
from forge.agents.requirements import BUILD_HERE, names_a_project
from forge.errors import Denied
from forge.sandbox.models import Network

_PLACES = re.compile(r"(?:^|[=:,@]|^-\w+)(?=/)|(?:^|[=:])(?=~)")
"""Where a path from the root or from a home begins, also as the value of an option."""
_CLIMBS = re.compile(r"(?:^|[=:,@/])\.\.(?:/|$)|^-\w+\.\.(?:/|$)")
_ADDRESS = re.compile(r"(?:^|[=,@ ])\w[\w+.-]*://|^git@", re.ASCII)
_ASSIGNMENT = re.compile(r"\w+\+?=")
_AT_IS_A_NAME = ("git", "npm")
"""To other programs it may be a file with more arguments."""
MAX_SHOWN = 60


class CommandRefused(Denied):
    """A command that is not on the list, or with something that is not."""


@dataclass(frozen=True)
class Allowed:
    argv: tuple[str, ...]
    network: Network
    runner: Runner | None
    begin: int
    """So many words were the rule's own; options of ours go behind them."""
    in_environment: bool

    @property
    def builds_a_project(self) -> bool:
        return self.in_environment and self.network is Network.NONE

    def with_options(self, options: tuple[str, ...]) -> "Allowed":
        """Options for whoever runs the tests: first, or at the end of what a script is given."""
        if self.runner is not Runner.NPM:
            return replace(self, argv=(*self.argv[: self.begin], *options, *self.argv[self.begin :]))
        passed_on = () if "--" in self.argv or not options else ("--",)
        return replace(self, argv=(*self.argv, *passed_on, *options))


class _Policy:
    """Some rules, by program."""

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
        """The rule that says most about how it begins."""
        fitting = [rule for rule in self._rules.get(words[0], ()) if _begins(words, rule)]
        if not fitting:
            raise CommandRefused(f"{_shown(words)} is not allowed.", hint=self._hint)
        return max(fitting, key=lambda rule: len(rule.words))

    @cached_property
    def _hint(self) -> str:
        """`git status|diff|log|show` and so on."""
        groups: dict[str, list[str]] = {}
        for program, rules in self._rules.items():
            for rule in rules:
                *before, last = rule.words
                if not program.endswith("3"):
                    groups.setdefault(" ".join(before), []).append(last)
        parts = [f"{before} {'|'.join(last)}" for before, last in groups.items() if before]
        return f"{self._tool} takes: {', '.join([*groups.get('', []), *parts])}."


_TESTS = _Policy("run_tests", TESTS)
_COMMANDS = _Policy("run_command", (*COMMANDS, *TESTS))
"""Tests are commands, too."""


def allow_tests(command: str, root: Path) -> Allowed:
    return _TESTS.allow(command, root)


def allow_command(command: str, root: Path) -> Allowed:
    return _COMMANDS.allow(command, root)


def _building(allowed: Allowed) -> Allowed:
    """Code of a project is executed when it is installed, so it is without the registry."""
    return replace(allowed.with_options(BUILD_HERE), network=Network.NONE)


def _check_program(program: str) -> None:
    if _ASSIGNMENT.match(program):
        raise CommandRefused("Variables cannot be set in front of a command.")
    if "/" in program or "\\" in program:
        raise CommandRefused("The program is called by its bare name, such as pytest.")


def _begins(words: list[str], rule: Rule) -> bool:
    begin = words[: len(rule.words)]
    return len(begin) == len(rule.words) and all(map(_fits, begin, rule.words))


def _fits(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def _check_words(words: Sequence[str], rule: Rule, root: Path) -> None:
    is_passed_on = False
    for word in words:
        _check_place(word, rule.words[0], root)
        if word == "--" and rule.rest.passes_on:
            is_passed_on = True
        elif is_passed_on:
            continue
        elif word.startswith("-") and word not in ("-", "--"):
            _check_option(word, rule)
        elif not rule.rest.others.fullmatch(word):
            raise CommandRefused(
                f"{_shown([*rule.words, word])} is not allowed: {word[:MAX_SHOWN]!r} is no name."
            )


def _check_place(word: str, program: str, root: Path) -> None:
    """Nothing outside the workspace is named, neither a path nor an address."""
    if _ADDRESS.search(word):
        raise CommandRefused(
            f"{word[:MAX_SHOWN]!r} is an address; commands have no network but for packages."
        )
    if word.startswith("@") and program not in _AT_IS_A_NAME:
        raise CommandRefused(f"{word[:MAX_SHOWN]!r}: arguments from a file are not supported.")
    places = (word[found.end() :] for found in _PLACES.finditer(word))
    if _CLIMBS.search(word) or not all(_is_beneath(path, root) for path in places):
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
    hint = f"There are: {' '.join(sorted(option.rstrip('=') for option in only))}." if only else None
    raise CommandRefused(
        f"{name[:MAX_SHOWN]!r} {'takes no value' if known else 'is not allowed'} with {' '.join(rule.words)}.",
        hint=None if known else hint,
    )


def _is_refused(name: str, rest: Rest) -> bool:
    return bool(rest.unlike.fullmatch(name)) or any(_is_meant(name, never) for never in rest.never)


def _is_meant(name: str, never: str) -> bool:
    """Programs take options by the beginning of their names, so a beginning counts as the whole."""
    if name == never.rstrip("*") or (never.endswith("*") and name.startswith(never[:-1])):
        return True
    return name.startswith("--") and len(name) > len("--") and never.startswith(name)


def _shown(words: Sequence[str]) -> str:
    return f"{' '.join(words[:4])[:MAX_SHOWN]!r}"
