"""The records of evidence: audits, authorizations, test runs and diff logs. Markdown is rendered from them and never
parsed. Field names are part of the signed format."""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from forge.audits.evidence.chain import Entry
from forge.kernel.text import truncate

MAX_LISTED = 2_000
"""The maximum number of names in one record; the rest is only counted."""
MAX_TEXT = 2_000


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Kind(StrEnum):
    LEGACY = "legacy"
    """A plain text that existed before the first record."""
    AUDIT = "audit"
    AUTHORIZED = "authorized"
    AUTO_AUTHORIZED = "auto-authorized"
    BYPASS = "bypass"
    TEST_RUN = "test-run"


class AuditOutcome(StrEnum):
    FAIL = "FAIL"
    SIGNED_OFF = "SIGNED-OFF (awaiting AUTHORIZED)"


class ResultLine(Record, frozen=True):
    code: str
    name: str
    result: str
    detail: str


class Audited(Record, frozen=True):
    phase: str
    iteration: int
    """The number of the audit, counted over all phases."""
    outcome: AuditOutcome
    checks: tuple[ResultLine, ...]
    warnings: tuple[ResultLine, ...]
    fix_plan: tuple[str, ...]
    files: tuple[str, ...]
    branch: str | None
    head: str | None
    base: str | None
    tree: str
    request: str = ""
    """The idempotency key of the request that caused the audit."""


class Authorized(Record, frozen=True):
    commit: str
    """The full id."""
    by: str
    iteration: int
    """The iteration of the authorized audit."""
    reason: str = ""
    """The reason for a bypass."""


class Legacy(Record, frozen=True):
    text: str


class Status(StrEnum):
    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    SKIP = "SKIP"


class LevelName(StrEnum):
    """In the order they are run."""

    STATIC = "Static"
    RUNTIME = "Runtime"
    BEHAVIOR = "Behavior"
    CONTRACT = "Contract"


class TestCounts(Record, frozen=True):
    __test__ = False  # pytest would collect a class named Test…

    passed: int
    failed: int
    skipped: int

    @property
    def ran(self) -> int:
        return self.passed + self.failed


class Step(Record, frozen=True):
    name: str
    status: Status
    command: tuple[str, ...]
    """Empty if no command was executed."""
    exit_code: int | None
    end: str
    """How it ended: exited, timeout, memory…; `examined` if no command was executed."""
    started_at: str
    ended_at: str
    summary: str
    counts: TestCounts | None = None
    """None if the runner reports no counts."""
    failing: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    """The messages of the failing tests, in the same order."""
    sandbox: str | None = None


class Level(Record, frozen=True):
    name: LevelName
    status: Status
    started_at: str
    ended_at: str
    steps: tuple[Step, ...]
    reason: str = ""
    """Why it was skipped, or failed without a failing step."""

    @property
    def counts(self) -> TestCounts | None:
        """The sum of all steps; None if any step has no counts."""
        counted = [step.counts for step in self.steps if step.status is not Status.SKIP]
        known = [counts for counts in counted if counts is not None]
        if not known or len(known) != len(counted):
            return None
        return TestCounts(
            sum(c.passed for c in known), sum(c.failed for c in known), sum(c.skipped for c in known)
        )


class TestRun(Record, frozen=True):
    __test__ = False

    phase: str
    status: Status
    problem: str
    """Why the run failed although no level did."""
    started_at: str
    ended_at: str
    branch: str | None
    head: str | None
    base: str | None
    tree: str
    """The tree hash before the run; the evidence is valid for this tree only."""
    tree_after: str
    runtime: str
    files: tuple[str, ...]
    levels: tuple[Level, ...]
    ignored: tuple[str, ...] = ()
    """Source files that git ignores; the tests may have used them although they are not in the tree."""

    def level(self, name: LevelName) -> Level | None:
        return next((level for level in self.levels if level.name is name), None)

    @property
    def counts(self) -> TestCounts | None:
        behavior = self.level(LevelName.BEHAVIOR)
        return behavior.counts if behavior else None


class FileChange(Record, frozen=True):
    kind: str
    path: str
    old_path: str | None = None
    added: int = 0
    removed: int = 0
    lines: tuple[tuple[int, int], ...] = ()
    """First and last line of each added block. The text is left out, as it may contain secrets."""


class LevelResult(Record, frozen=True):
    name: LevelName
    status: Status
    summary: str


class DiffLog(Record, frozen=True):
    phase: str
    branch: str | None
    head: str | None
    base: str | None
    tree: str
    is_complete: bool
    summary: str
    files: tuple[FileChange, ...]
    verification: tuple[LevelResult, ...]
    run: str
    """The hash of the test run it belongs to."""
    notes: str = ""
    next_steps: str = ""


_BODIES: dict[str, type[Record]] = {
    Kind.LEGACY: Legacy,
    Kind.AUDIT: Audited,
    Kind.AUTHORIZED: Authorized,
    Kind.AUTO_AUTHORIZED: Authorized,
    Kind.BYPASS: Authorized,
    Kind.TEST_RUN: TestRun,
}


def body_of(entry: Entry) -> Record | None:
    """Decode the record of an entry; None if this version of Forge does not know its format."""
    shape = _BODIES.get(entry.kind)
    try:
        return None if shape is None else msgspec.convert(entry.body, shape)
    except msgspec.ValidationError:
        return None


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def exact_stamp(at: datetime) -> str:
    """Format a time with microseconds, so that levels within a second sort correctly."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def fit(text: str, most: int = MAX_TEXT) -> str:
    """Make untrusted text valid UTF-8 and limit its length."""
    valid = text[: most + 1].encode("utf-8", "backslashreplace").decode()
    return truncate(valid, most)


def shorten(text: str, most: int) -> str:
    """Keep the beginning and end of a text, in whole lines if possible, as tracebacks end with the reason."""
    if len(text) <= most:
        return fit(text, most + 1)
    half = most // 2
    begin, end = text[:half], text[-half:]
    begin = begin[: begin.rfind("\n")] if "\n" in begin else begin
    end = end[end.find("\n") + 1 :] if "\n" in end.rstrip("\n") else end
    return fit(f"{begin}\n…\n{end}", most + 10)


def listed(names: Sequence[str]) -> tuple[str, ...]:
    more = len(names) - MAX_LISTED
    return (*names[:MAX_LISTED], f"(and {more:,} more)") if more > 0 else tuple(names)
