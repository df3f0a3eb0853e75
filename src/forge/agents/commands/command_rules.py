"""Table of the commands that agents may run, and of the arguments each accepts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from forge.sandbox.models import Network

ANYTHING = re.compile(r".*")
NOTHING = re.compile(r"(?!)")
PYTHON_PACKAGE = re.compile(
    r"[\w.][\w./-]*(\[[\w., -]*\])?( *(===?|~=|!=|[<>]=?) *[\w.*+!-]+( *, *(===?|~=|!=|[<>]=?) *[\w.*+!-]+)*)?"
)
NODE_PACKAGE = re.compile(r"(?!(?:true|false|null)$)(@[\w.-]+/)?[\w.-]+(@[\w.^~<>=|* -]+)?")
"""Excludes true, false and null, which npm reads as the value of a preceding option."""
TARGET = re.compile(r"[\w.:/-]+")
FOLLOWING = re.compile(r"-[^-]*[fF].*")
"""`tail` accepts several letters and numbers after one dash: `-5f`, `-qF`."""
NOT_FOLLOWING = re.compile(r"(?!\+\d*[bcl]?f$).*")
"""`tail +5f` is an obsolete form of the same."""
WATCHING = re.compile(r"--?(w|watch.*|init)", re.IGNORECASE)
"""`tsc` also accepts capital letters and a single dash."""


class Runner(StrEnum):
    """Test runner, which decides how a report is requested."""

    PYTEST = "pytest"
    VITEST = "vitest"
    JEST = "jest"
    NODE = "node"
    NPM = "npm"
    """The runner that the `test` script of the project calls."""
    OTHER = "other"
    """Writes no report."""


@dataclass(frozen=True)
class Rest:
    """Arguments allowed after the beginning of a command."""

    only: frozenset[str] | None = None
    """Allowed options, None for all; a trailing `=` marks options with a value."""
    never: frozenset[str] = frozenset()
    """Refused options and their abbreviations; a trailing `*` matches any suffix."""
    unlike: re.Pattern[str] = NOTHING
    """Pattern of refused options, for programs with unusual option syntax."""
    others: re.Pattern[str] = ANYTHING
    """Pattern of allowed words that are not options."""
    passes_on: bool = False
    """Arguments after `--` are passed to a script of the project and not checked."""


@dataclass(frozen=True)
class Rule:
    words: tuple[str, ...]
    """Beginning of the command; a trailing `*` of a word matches any suffix."""
    runs: tuple[str, ...]
    """Words executed instead."""
    rest: Rest
    runner: Runner | None = None
    """Only for tests."""
    network: Network = Network.NONE
    in_environment: bool = False
    """Needs the virtual environment of the project, which is created if missing."""


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _rule(words: str, rest: Rest = Rest(), runner: Runner | None = None, *, runs: str | None = None) -> Rule:  # noqa: B008 - immutable
    begin = tuple(words.split())
    return Rule(begin, begin if runs is None else tuple(runs.split()), rest, runner)


def _also_with_3(rule: Rule) -> Iterable[Rule]:
    """Add the aliases `python3` and `pip3`."""
    first, *more = rule.words
    return rule, replace(rule, words=(f"{first}3", *more))


def _python(words: str, rest: Rest, runner: Runner | None = None) -> Iterable[Rule]:
    return _also_with_3(_rule(f"python {words}", rest, runner, runs=f"python3 {words}"))


def _node_tool(name: str, rest: Rest = Rest(), runner: Runner | None = None) -> Iterable[Rule]:  # noqa: B008 - immutable
    """Rules of a tool installed in the project. npx could download it, so npx itself is never called."""
    return _rule(name, rest, runner), _rule(f"npx {name}", rest, runner, runs=name)


def _pip(verb: str, rest: Rest) -> Iterable[Rule]:
    """Rules of pip, isolated so that a file named `pip` in the project is not executed."""
    for begin in ("pip", "python -m pip"):
        yield from _also_with_3(_rule(f"{begin} {verb}", rest, runs=f"python3 -I -m pip {verb}"))


def _fetching(rules: Iterable[Rule], *, in_environment: bool = False) -> Iterable[Rule]:
    return (replace(rule, network=Network.REGISTRY, in_environment=in_environment) for rule in rules)


# For every tool: options that load plugins, runners or setup code are refused, a configuration file is accepted. What a
# tool loads is thus written in files of the workspace, where it can be reviewed.
_PYTEST = Rest(
    never=_options("--junit* --pdb* --trace --pastebin* --basetemp* --looponfail --debug* --log-file* -p*")
)
_VITEST = Rest(
    never=_options(
        "--watch* -w --ui* --api* --reporter* --outputFile* --browser* --inspect* --execArgv* "
        "--environment* --globalSetup* --runner* --snapshotEnvironment*"
    )
)
_JEST = Rest(
    never=_options(
        "--watch* --json* --outputFile* --reporters* --inspect* --env* --filter* --globalSetup* "
        "--globalTeardown* --preset* --resolver* --runner* --setupFiles* --snapshotSerializers* --testEnvironment* "
        "--testResultsProcessor* --testRunner* --testSequencer* --transform*"
    )
)
_NODE_TEST = Rest(
    only=_options(
        "--test-name-pattern= --test-skip-pattern= --test-only --test-concurrency= --test-timeout= "
        "--test-force-exit --experimental-strip-types --experimental-test-coverage --no-warnings"
    )
)
_NPM_SCRIPT = Rest(
    only=_options("--silent -s --if-present --workspaces --workspace= -w --include-workspace-root"),
    passes_on=True,
)
_PIP_INSTALL = Rest(
    only=_options(
        "-r --requirement= -c --constraint= -e --editable= -U --upgrade --upgrade-strategy= --pre --no-deps "
        "-q --quiet -v --verbose --force-reinstall --dry-run --no-build-isolation --progress-bar="
    ),
    others=PYTHON_PACKAGE,
)
_PIP_LOOK = Rest(only=_options("--outdated --format= -v --verbose -f --files --all"), others=PYTHON_PACKAGE)
_NPM_INSTALL = Rest(
    only=_options(
        "-D --save-dev -S --save -P --save-prod -O --save-optional -E --save-exact --save-peer --no-save "
        "--omit= --include= --legacy-peer-deps --force --no-audit --no-fund --prefer-offline --ignore-scripts "
        "--package-lock-only --no-package-lock --silent -s --loglevel= --no-progress --workspaces --workspace= -w"
    ),
    others=NODE_PACKAGE,
)
_GIT = Rest(
    never=_options(
        "-c --output --ext-diff --textconv --exec-path* --git-dir* --work-tree* --config-env* --upload-pack* "
        "--receive-pack* --no-index --namespace* --super-prefix* -O* --show-signature --contents"
    )
)
_FIND = Rest(
    only=_options(
        "-name -iname -path -ipath -wholename -regex -iregex -regextype -type -size -empty -newer -mtime -mmin "
        "-ctime -cmin -perm -maxdepth -mindepth -depth -prune -not -a -and -o -or -print -print0 -ls -quit -true "
        "-false -L -P -H -mount -xdev -links -printf"
    )
)
_MAKE = Rest(
    only=_options("-j -k -n -s -B --jobs= --keep-going --dry-run --silent --always-make"), others=TARGET
)
_CARGO = Rest(never=_options("--config* -Z* --manifest-path* --registry* --index*"))
_GO = Rest(
    unlike=re.compile(
        r"--?(exec|toolexec|vettool|ldflags|gcflags|asmflags|gccgoflags|compiler|overlay|modfile|pkgdir|o|C)"
    )
)
_VERSION = Rest(only=_options(""), others=NOTHING)
_VENV = Rest(only=_options("--clear --upgrade --without-pip --system-site-packages"), others=TARGET)
_MYPY = Rest(never=_options("--install-types --python-executable*"))
_UNWATCHED = Rest(never=_options("--watch* -w --init"), unlike=WATCHING)
_ESLINT = Rest(
    unlike=re.compile(rf"{WATCHING.pattern}|--(rulesdir|resolve.*|plugin|parser)", re.IGNORECASE),
)
_PRETTIER = Rest(never=_options("--watch* -w --plugin*"), unlike=WATCHING)

TESTS: tuple[Rule, ...] = (
    _rule("pytest", _PYTEST, Runner.PYTEST),
    *_python("-m pytest", _PYTEST, Runner.PYTEST),
    *_python("-m unittest", Rest(), Runner.OTHER),
    _rule("npm test", _NPM_SCRIPT, Runner.NPM),
    _rule("npm run test", _NPM_SCRIPT, Runner.NPM),
    _rule("npm run test:*", _NPM_SCRIPT, Runner.OTHER),
    *_node_tool("vitest", _VITEST, Runner.VITEST),
    *_node_tool("jest", _JEST, Runner.JEST),
    _rule("node --test", _NODE_TEST, Runner.NODE),
    _rule("cargo test", _CARGO, Runner.OTHER),
    _rule("go test", _GO, Runner.OTHER),
    _rule("make test", _MAKE, Runner.OTHER),
)

COMMANDS: tuple[Rule, ...] = (
    *_fetching(_pip("install", _PIP_INSTALL), in_environment=True),
    *(rule for verb in ("list", "show", "freeze", "check") for rule in _pip(verb, _PIP_LOOK)),
    *_python("-m venv", _VENV),
    *_python("-m compileall", Rest(only=_options("-q -f -l -j -x"))),
    *_python("-m py_compile", Rest(only=_options("-q"))),
    *_python("-m json.tool", Rest(only=_options("--sort-keys --indent= --compact --json-lines"))),
    *_python("--version", _VERSION),
    *_fetching(_rule(f"npm {verb}", _NPM_INSTALL) for verb in ("install", "i", "ci", "add")),
    _rule("npm run", _NPM_SCRIPT),
    _rule("npm ls", Rest(only=_options("--all --depth= --json --long"), others=NODE_PACKAGE)),
    _rule("npm --version", _VERSION),
    _rule("node --check", Rest(only=_options(""))),
    _rule("node --version", _VERSION),
    *(rule for name in ("tsc", "biome", "pyright") for rule in _node_tool(name, _UNWATCHED)),
    *_node_tool("prettier", _PRETTIER),
    *_node_tool("eslint", _ESLINT),
    _rule("ruff", _UNWATCHED),
    *_python("-m ruff", _UNWATCHED),
    _rule("black"),
    *_python("-m black", Rest()),
    _rule("mypy", _MYPY),
    *_python("-m mypy", _MYPY),
    _rule("cat"),
    _rule("head"),
    _rule("tail", Rest(never=_options("--follow* --retry --pid*"), unlike=FOLLOWING, others=NOT_FOLLOWING)),
    _rule("wc", Rest(never=_options("--files0-from*"))),
    _rule("ls"),
    _rule("find", _FIND),
    *(
        _rule(f"git {verb}", _GIT, runs=f"git --no-pager {verb}")
        for verb in ("status", "diff", "log", "show")
    ),
    *(_rule(f"cargo {verb}", _CARGO) for verb in ("build", "check", "clippy", "fmt")),
    *(_rule(f"go {verb}", _GO) for verb in ("build", "vet", "fmt")),
    _rule("make", _MAKE),
)
