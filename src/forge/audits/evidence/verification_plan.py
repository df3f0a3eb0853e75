"""Plan the commands that verify a project, from forge.json or else from the project layout."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from forge.agents.commands.command_policy import Allowed, allow_command, allow_tests
from forge.agents.commands.command_rules import Runner
from forge.audits.files.lenient_readers import read_json, read_text, texts, within
from forge.audits.project import Frontend, Language
from forge.audits.snapshot import Snapshot
from forge.errors import ForgeError
from forge.sandbox.models import Network

_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_TEST_FILE = re.compile(r"(test_[^/]*|[^/]*_test)\.py")
PYTHON = "python3"
_NO_SCRIPT = "no test specified"
"""Part of the placeholder that `npm init` writes as the test script."""
NO_TESTS = "no tests were found, and forge.json does not configure any"


@dataclass(frozen=True, slots=True)
class Task:
    """One command of one level."""

    name: str
    argv: tuple[str, ...]
    folder: str = ""
    """Relative to the project."""
    allowed: Allowed | None = None
    """The parsed test command, to which report options can be added."""
    runner: Runner | None = None
    has_sources_on_path: bool = False
    is_unittest: bool = False
    """Whether it is unittest, which runs through a wrapper that counts the tests."""
    problem: str = ""
    """Why it cannot be run as configured."""


@dataclass(frozen=True, slots=True)
class Plan:
    static: tuple[Task, ...]
    runtime: tuple[Task, ...]
    behavior: tuple[Task, ...]
    environment: str
    """The folder of the Python environment, relative to the project."""
    no_runtime: str = "forge.json does not set entry_module"
    notice: str = ""
    """A notice about the environment for the user."""


def plan(snapshot: Snapshot, root: Path) -> Plan:
    config = snapshot.project.config
    languages = set(_languages(snapshot))
    environment = _environment(config.backend.venv_path)
    runtime = tuple(_runtime(snapshot, languages))
    behavior = tuple(_behavior(snapshot, languages, root))
    is_python = any(task.argv[:1] == (PYTHON,) for task in (*runtime, *behavior))
    return Plan(
        static=tuple(_types(snapshot, root)),
        runtime=runtime,
        behavior=behavior,
        environment=environment,
        notice=_notice(root, environment, config.backend.venv_path) if is_python else "",
    )


def _notice(root: Path, environment: str, configured: str | None) -> str:
    """Return a notice if a different Python than the configured one is used, a common cause of failing tests."""
    if os.path.lexists(root / environment / "bin" / PYTHON):
        if configured is None or _environment(configured) == str(PurePosixPath(configured)):
            return ""
        return f"venv_path {configured[:80]!r} is not inside the project; {environment} is used"
    subject = f"venv_path {configured[:80]!r}" if configured else environment
    return f"{subject} does not exist: the system's {PYTHON} and its packages are used"


def _languages(snapshot: Snapshot) -> Iterator[Language]:
    """Yield the configured language, else the languages that have tests."""
    if snapshot.project.config.backend.language:
        yield snapshot.project.config.backend.language
        return
    files = snapshot.tree.entries
    if any(_TEST_FILE.fullmatch(PurePosixPath(path).name) for path in files):
        yield "python"
    if _test_script(snapshot, "") and not snapshot.project.config.frontend.enabled:
        yield "javascript"
    if "go.mod" in files:
        yield "go"


def _environment(configured: str | None) -> str:
    """Return the environment folder, which must be inside the project to be visible in the sandbox."""
    path = PurePosixPath(configured or ".venv")
    return ".venv" if path.is_absolute() or ".." in path.parts else str(path)


def _types(snapshot: Snapshot, root: Path) -> Iterator[Task]:
    for folder in dict.fromkeys(("", *_frontend_folders(snapshot))):
        has_settings = _join(folder, "tsconfig.json") in snapshot.tree.entries
        if has_settings and (root / folder / "node_modules" / ".bin" / "tsc").exists():
            yield Task(_label("tsc", folder), ("tsc", "--noEmit"), folder)


def _runtime(snapshot: Snapshot, languages: set[Language]) -> Iterator[Task]:
    module = (snapshot.project.config.backend.entry_module or "").partition(":")[0].strip()
    if module and languages & {"typescript", "javascript", "go"}:
        module = ""
    if module:
        is_name = bool(_MODULE.fullmatch(module))
        code = f"import importlib; importlib.import_module({module!r})"
        problem = "" if is_name else f"entry_module {module[:80]!r} is not a module name"
        yield Task("import", (PYTHON, "-c", code), has_sources_on_path=True, problem=problem)
    if "go" in languages:
        yield Task("go build", ("go", "build", "./..."))
    frontend = snapshot.project.config.frontend
    if frontend.enabled and frontend.build_cmd:
        yield _configured("frontend build", frontend.build_cmd, frontend)


def _behavior(snapshot: Snapshot, languages: set[Language], root: Path) -> Iterator[Task]:
    config = snapshot.project.config
    if "python" in languages:
        yield _python_tests(snapshot)
    if languages & {"typescript", "javascript"}:
        yield _script_tests(snapshot, "", root)
    if "go" in languages:
        yield Task("go test", ("go", "test", "./..."), runner=Runner.OTHER)
    if not config.frontend.enabled:
        return
    if config.frontend.test_cmd:
        yield _configured("frontend tests", config.frontend.test_cmd, config.frontend, tests=True)
    elif _test_script(snapshot, _folder(config.frontend)):
        yield _script_tests(snapshot, _folder(config.frontend), root)


def _python_tests(snapshot: Snapshot) -> Task:
    backend = snapshot.project.config.backend
    test_dir = str(PurePosixPath((backend.test_dir or "").strip("/"))).removeprefix(".")
    exists = bool(test_dir) and any(path.startswith(f"{test_dir}/") for path in snapshot.tree.entries)
    problem = f"test_dir {test_dir[:80]!r} is not in the project" if test_dir and not exists else ""
    if (backend.test_framework or "").lower() == "unittest":
        prefix = (PYTHON, "-m", "unittest", "discover", *(("-s", f"./{test_dir}") if exists else ()))
        return Task("unittest", prefix, runner=Runner.OTHER, problem=problem, is_unittest=True)
    prefix = (PYTHON, "-m", "pytest")
    argv = (*prefix, "-q", "-p", "no:cacheprovider", *((f"./{test_dir}",) if exists else ()))
    allowed = Allowed(argv, Network.NONE, Runner.PYTEST, len(prefix), in_environment=False)
    return Task("pytest", argv, allowed=allowed, runner=Runner.PYTEST, problem=problem)


def _script_tests(snapshot: Snapshot, folder: str, root: Path) -> Task:
    """Return the command of the test script if it supports reports, else the script itself."""
    script = _test_script(snapshot, folder)
    name = _label("npm test", folder)
    if not script:
        return Task(
            name, ("npm", "test"), folder, runner=Runner.OTHER, problem="package.json has no test script"
        )
    try:
        allowed = allow_tests(script, (root / folder).resolve())
    except ForgeError:
        return Task(name, ("npm", "test"), folder, runner=Runner.OTHER)
    if allowed.runner in (None, Runner.OTHER, Runner.NPM):
        return Task(name, ("npm", "test"), folder, runner=Runner.OTHER)
    return Task(name, allowed.argv, folder, allowed, allowed.runner)


def _configured(name: str, command: str, frontend: Frontend, *, tests: bool = False) -> Task:
    folder = _folder(frontend)
    try:
        allowed = (allow_tests if tests else allow_command)(command, Path("/nowhere") / folder)
    except ForgeError as error:
        return Task(name, (), folder, problem=f"{command[:80]!r}: {error.message}")
    if allowed.network is not Network.NONE:
        return Task(
            name,
            (),
            folder,
            problem=f"{command[:80]!r} needs network access, which verification does not have",
        )
    return Task(name, allowed.argv, folder, allowed, allowed.runner)


def _frontend_folders(snapshot: Snapshot) -> tuple[str, ...]:
    frontend = snapshot.project.config.frontend
    return (_folder(frontend),) if frontend.enabled else ()


def _folder(frontend: Frontend) -> str:
    path = PurePosixPath(frontend.dir)
    return "" if path.is_absolute() or ".." in path.parts or str(path) == "." else str(path)


def _test_script(snapshot: Snapshot, folder: str) -> str:
    package = read_json(read_text(snapshot, _join(folder, "package.json")))
    script = next(iter(texts(within(package, "scripts", "test"))), "")
    return "" if _NO_SCRIPT in script else script


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _label(name: str, folder: str) -> str:
    return f"{name} ({folder})" if folder else name
