"""The interface of checks: a check is a pure function from a snapshot to findings, with fixtures that test it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from forge.audits.models import Severity
from forge.audits.project import CONFIG
from forge.audits.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """A finding as a check reports it; the engine adds the excerpt, the command, the fingerprint and the baseline state."""

    rule: str
    severity: Severity
    message: str
    fix: str
    path: str | None = None
    """As in `Snapshot.tree`."""
    line: int | None = None
    end_line: int | None = None
    subject: str = ""
    """What the finding is about, independent of the line, such as the imported module. Part of the fingerprint."""
    why: str = ""
    """Overrides the check's own `why`."""
    excerpt: str | None = None
    """Replaces the source line, for example where it contains a secret."""


@dataclass(frozen=True, slots=True)
class Examination:
    found: tuple[Found, ...]
    examined: int
    unit: str
    detail: str = ""
    """The text after the verdict; if empty, the engine builds it from the findings."""
    skipped: str | None = None
    """Why there was nothing to examine. Examining 0 things without a reason is an ERROR."""


def examined(
    found: Iterable[Found], count: int, unit: str, *, detail: str = "", nothing: str | None = None
) -> Examination:
    """Build a result. `nothing` is the reason for SKIP if the count is 0 and nothing was found."""
    all_found = tuple(found)
    skipped = nothing if count == 0 and not all_found else None
    return Examination(all_found, count, unit, detail, skipped)


def skip(reason: str, unit: str = "files") -> Examination:
    return Examination((), 0, unit, skipped=reason)


def error_examination(rule: str, message: str, fix: str) -> Examination:
    """Build a result for a check that could not run, with one ERROR finding."""
    return Examination((Found(rule, Severity.ERROR, message, fix),), 0, "files")


@dataclass(frozen=True)
class Fixture:
    """A small in-memory project and the result the check must give for it."""

    name: str
    snapshot: Callable[[], Snapshot]
    expect: str
    """The verdict: PASS, FAIL, WARN, ERROR or SKIP."""
    rules: tuple[str, ...] = ()
    """The rules of the findings, sorted."""


@dataclass(frozen=True)
class Check:
    code: str
    """Letters and a number: A4, W1, TEAM7."""
    name: str
    why: str
    """Why the check exists, in one or two sentences, for a person it has just stopped."""
    docs: str
    """What it checks, its rules and exceptions, in Markdown; shown by `forge audit --explain A4`."""
    examine: Callable[[Snapshot], Examination]
    fixtures: tuple[Fixture, ...]
    """At least one passing and one failing example; run by `forge audit --self-test` and at every server start."""
    is_blocking: bool = True
    """False: a FAIL is reported as WARN. An ERROR always blocks."""


def config_error(snapshot: Snapshot, unit: str = "files") -> Examination | None:
    """Return an ERROR examination if forge.json cannot be read, else None."""
    problem = snapshot.project.problem
    if problem is None:
        return None
    fix = f"Fix {CONFIG}; docs/reference/forge-json.md describes every key."
    found = Found("bad-config", Severity.ERROR, f"{problem}.", fix, CONFIG, 1, subject="config")
    return Examination((found,), 0, unit)
