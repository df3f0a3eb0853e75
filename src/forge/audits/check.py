"""What a check is: a pure function from a snapshot to what it found, with examples of good and bad beside it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """A finding as a check reports it; the engine adds the excerpt, the command, the fingerprint and the baseline."""

    rule: str
    severity: Severity
    message: str
    fix: str
    path: str | None = None
    """As in `Snapshot.tree`."""
    line: int | None = None
    end_line: int | None = None
    subject: str = ""
    """What it is about, independent of the line: the module imported, the rule broken. Part of the fingerprint."""
    why: str = ""
    """Only where it differs from the check's own `why`."""
    excerpt: str | None = None
    """Only where the line itself must not be shown, as it holds a secret."""


@dataclass(frozen=True, slots=True)
class Examination:
    found: tuple[Found, ...]
    examined: int
    unit: str
    detail: str = ""
    """What a person reads behind the verdict; the engine writes one from the findings when it is empty."""
    skipped: str | None = None
    """Why there was nothing to examine. A check that examined 0 things and does not say why is an ERROR."""


def examined(
    found: Iterable[Found], count: int, unit: str, *, detail: str = "", nothing: str | None = None
) -> Examination:
    """The usual result; `nothing` is the reason to give when the count is 0 and nothing was found."""
    all_found = tuple(found)
    skipped = nothing if count == 0 and not all_found else None
    return Examination(all_found, count, unit, detail, skipped)


def skip(reason: str, unit: str = "files") -> Examination:
    return Examination((), 0, unit, skipped=reason)


def unexamined(rule: str, message: str, fix: str) -> Examination:
    """Nobody can tell, and this is why."""
    return Examination((Found(rule, Severity.ERROR, message, fix),), 0, "files")


@dataclass(frozen=True)
class Fixture:
    """A small project and what the check must say of it. Needs no disk and no git."""

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
    """Why it is there, for a person who has just been stopped by it; one or two sentences."""
    docs: str
    """What it looks at, what counts and how to say otherwise, in Markdown: `forge audit --explain A4`."""
    examine: Callable[[Snapshot], Examination]
    fixtures: tuple[Fixture, ...]
    """At least one that must pass and one that must not; run by `forge audit --self-test` and at every server start."""
    is_blocking: bool = True
    """False: a FAIL is reported as WARN. An ERROR always blocks."""
