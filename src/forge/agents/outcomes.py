"""What became of a command, in words for a model and as fields for everyone else."""

from collections.abc import Iterator

from forge.agents.command_policy import Allowed
from forge.agents.command_rules import Runner
from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.reports import Counts
from forge.sandbox.models import End, Outcome, Output

_STOPPED = {
    End.TIMEOUT: "it took too long",
    End.CPU: "it used too much processor time",
    End.MEMORY: "it used too much memory",
    End.PROCESSES: "it started too many processes",
    End.FILE_SIZE: "it wrote too large a file",
    End.DISK: "it wrote too much to disk",
    End.INODES: "it made too many files",
}
_INSTALL = {
    Runner.PYTEST: "run_command with pip install pytest",
    Runner.VITEST: "run_command with npm install --save-dev vitest",
    Runner.JEST: "run_command with npm install --save-dev jest",
}

_NOT_STARTED = (
    "It could not be started, for the reason below. If that is about files of the workspace: they should belong to the "
    "user Forge runs as."
)
_BUILD_FIRST = (
    "A project is installed without the registry, since its own code is executed. First, in a command without it, "
    "install its build system and all it depends on (such as pip install setuptools wheel, pip install -r "
    "requirements.txt). For tests it is often enough that Python finds it: pythonpath in the settings of pytest."
)


def tell(
    allowed: Allowed, outcome: Outcome, counts: Counts | None = None, advice: str | None = None
) -> ToolOutcome:
    """With advice for when it failed, in place of the usual."""
    if advice is None or has_succeeded(outcome) or outcome.end is not End.EXITED:
        advice = _advice(allowed, outcome, counts)
    return ToolOutcome(
        text="\n".join(_lines(outcome, counts, advice)),
        is_error=not has_succeeded(outcome),
        summary=_summary(outcome, counts),
        detail=detail_of(allowed.argv, outcome, counts),
    )


def has_succeeded(outcome: Outcome) -> bool:
    return outcome.end is End.EXITED and outcome.exit_code == 0


def detail_of(argv: tuple[str, ...], outcome: Outcome, counts: Counts | None = None) -> ToolDetail:
    return ToolDetail(
        argv=list(argv),
        exit_code=outcome.exit_code,
        end=outcome.end,
        passed=counts.passed if counts else None,
        failed=counts.failed if counts else None,
        skipped=counts.skipped if counts else None,
        truncated=outcome.stdout.truncated or outcome.stderr.truncated,
        sandbox=outcome.level,
        fetched=list(outcome.fetched) or None,
    )


def _lines(outcome: Outcome, counts: Counts | None, advice: str | None) -> Iterator[str]:
    yield f"{_how_it_ended(outcome)}, after {outcome.duration_ms / 1000:.1f} s"
    if counts:
        yield str(counts)
    if advice:
        yield advice
    yield from _output("stdout", outcome.stdout)
    yield from _output("stderr", outcome.stderr)


def _output(name: str, output: Output) -> Iterator[str]:
    if output.total_bytes:
        yield f"--- {name} ---"
        yield output.text.rstrip("\n")


def _how_it_ended(outcome: Outcome) -> str:
    if outcome.end is End.EXITED:
        return f"exit code {outcome.exit_code}"
    if outcome.end is End.NOT_STARTED:
        return "not started"
    return f"stopped: {_STOPPED[outcome.end]}"


def _advice(allowed: Allowed, outcome: Outcome, counts: Counts | None) -> str | None:
    """What has to be installed first: a program, a test runner that came to nothing, what a project is built with."""
    install = _INSTALL.get(allowed.runner or Runner.OTHER)
    if outcome.end is End.NOT_STARTED and not _is_missing(allowed.argv[0], outcome):
        return _NOT_STARTED
    if outcome.end is End.NOT_STARTED:
        return (
            f"{allowed.argv[0]} is not installed here. {f'Install it: {install}.' if install else ''}".strip()
        )
    if install and counts is None and outcome.end is End.EXITED and outcome.exit_code:
        return f"No test was reported. If {allowed.runner} is not installed in the project: {install}."
    if allowed.builds_a_project and not has_succeeded(outcome):
        return _BUILD_FIRST
    return None


def _is_missing(program: str, outcome: Outcome) -> bool:
    """What the sandbox says: nothing of the project had a chance to say anything yet."""
    return f"{program}: " in outcome.stderr.text and "No such file or directory" in outcome.stderr.text


def _summary(outcome: Outcome, counts: Counts | None) -> str:
    if outcome.end is not End.EXITED or (counts is None and outcome.exit_code):
        return _how_it_ended(outcome)
    return str(counts) if counts else "exit code 0"
