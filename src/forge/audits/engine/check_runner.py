"""Run checks on a snapshot and build the report, without access to disk, database or clock.

Checks run one after another: their slow part is analyzing files, which runs in parallel and is cached (see `analysis`).
A check that raises becomes an ERROR of that check; the others still run.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from forge.audits.check import Check, Examination, Found, error_examination
from forge.audits.display_text import escape_path, format_count, is_same_path
from forge.audits.engine.baseline import NEVER_ACCEPTED, Baseline, read_baseline
from forge.audits.engine.findings import FindingBuilder, escape_text
from forge.audits.models import AuditReport, CheckResult, Finding, Severity, Verdict
from forge.audits.snapshot import Snapshot
from forge.errors import ForgeError, Invalid

log = logging.getLogger(__name__)

_ORDER = (Severity.FAIL, Severity.ERROR, Severity.WARN)
_VERDICTS = {Severity.FAIL: Verdict.FAIL, Severity.ERROR: Verdict.ERROR, Severity.WARN: Verdict.WARN}


def run_checks(
    snapshot: Snapshot,
    checks: Iterable[Check],
    *,
    at: datetime,
    only_path: str | None = None,
    place: str = "",
    on_result: Callable[[CheckResult], None] = lambda _: None,
) -> AuditReport:
    """Run the checks and report their results.

    `only_path` drops findings about other files. `place` is the project path in the `reproduce` commands; empty if the
    commands run inside the project."""
    began = time.monotonic()
    only = None if only_path is None else _find_path(snapshot, only_path)
    baseline = read_baseline(snapshot)
    results: list[CheckResult] = []
    for check in checks:
        results.append(_run(check, snapshot, FindingBuilder(check, snapshot, baseline, place), only))
        on_result(results[-1])
    return AuditReport(
        phase=snapshot.phase,
        timestamp=at,
        overall=Verdict.FAIL if any(result.result.blocks for result in results) else Verdict.PASS,
        checks=[result for result in results if not _is_warning(result)],
        warnings=[result for result in results if _is_warning(result)],
        project=snapshot.name,
        branch=snapshot.branch and escape_path(snapshot.branch),
        head=snapshot.head,
        base=snapshot.base,
        tree=snapshot.tree_id,
        claimed_files=None if snapshot.claims is None else sorted(map(escape_path, snapshot.claims.files)),
        changed_files=len(snapshot.changes),
        duration_ms=_since(began),
    )


def verdict_of(check: Check, examination: Examination) -> Verdict:
    """Return the verdict of a check, without a baseline."""
    return _judge(check, examination, [one.severity for one in examination.found])


def _judge(check: Check, examination: Examination, severities: Sequence[Severity]) -> Verdict:
    if examination.skipped is not None:
        return Verdict.SKIP
    worst = next((severity for severity in _ORDER if severity in severities), None)
    verdict = _VERDICTS[worst] if worst else Verdict.PASS
    if verdict is Verdict.PASS and examination.examined == 0:
        return Verdict.ERROR
    return Verdict.WARN if verdict is Verdict.FAIL and not check.is_blocking else verdict


def _run(check: Check, snapshot: Snapshot, describe: FindingBuilder, only_path: str | None) -> CheckResult:
    """Run one check. Its result is built inside the `try`, as an invalid result is a defect of the check, too."""
    began = time.monotonic()
    try:
        examination = _doubtful(check, describe.baseline) or validate_examination(check.examine(snapshot))
        return _result(check, examination, describe, only_path, began)
    except ForgeError as error:
        examination = _refused(error)
    except Exception as error:
        log.warning("check %s raised an exception", check.code, exc_info=True)
        examination = _broken(check, error)
    return _result(check, examination, describe, only_path, began)


def _result(
    check: Check, examination: Examination, describe: FindingBuilder, only_path: str | None, began: float
) -> CheckResult:
    found = [one for one in examination.found if only_path is None or one.path in (None, only_path)]
    findings = [describe(one) for one in found]
    severities = [finding.severity for finding in findings if finding.known is None]
    return CheckResult(
        code=check.code,
        name=check.name,
        result=_judge(check, examination, severities),
        detail=escape_text(_detail(examination, findings, only_path)),
        is_blocking=check.is_blocking,
        findings=findings,
        examined=examination.examined,
        unit=examination.unit,
        duration_ms=_since(began),
    )


def validate_examination(examination: object) -> Examination:
    """Validate what a check returned, and consume `found` once, as it may be an iterator."""
    if not isinstance(examination, Examination):
        raise TypeError(f"it returned {type(examination).__name__}, not an Examination")
    found = tuple(examination.found)
    if strange := next((one for one in found if not isinstance(one, Found)), None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"it found {type(strange).__name__}, not Found")
    return replace(examination, found=found)


def _doubtful(check: Check, baseline: Baseline) -> Examination | None:
    if baseline.problem is None or check.code in NEVER_ACCEPTED:
        return None
    return _refused(
        Invalid(
            f"{baseline.problem}.", hint="Fix it, or delete it and create a new one: forge audit baseline"
        )
    )


def _find_path(snapshot: Snapshot, given: str) -> str:
    """Return the snapshot's path for a given file name, deleted and claimed files included."""
    known = {*snapshot.tree.entries, *(path for change in snapshot.changes for path in change.paths)}
    if snapshot.claims is not None:
        known |= snapshot.claims.files
    found = next((path for path in sorted(known) if is_same_path(given, path)), None)
    if found is None:
        raise Invalid(
            f"There is no file {escape_path(given)} in this project.",
            hint="Use a path relative to the project.",
        )
    return found


def _refused(error: ForgeError) -> Examination:
    """Return the ERROR examination of a check that raised a ForgeError."""
    return error_examination(
        "not-examined", error.message, error.hint or "Fix the problem, then audit again."
    )


def _broken(check: Check, error: Exception) -> Examination:
    message = f"{check.code} raised {type(error).__name__}: {str(error)[:300]}"
    fix = "This is a bug in the check, not in the project; see the log for details."
    return error_examination("broken-check", message, fix)


def _detail(examination: Examination, findings: Sequence[Finding], only_path: str | None) -> str:
    if examination.skipped is not None:
        return examination.skipped
    if only_path is not None and not findings:
        return f"no findings for {escape_path(only_path)}"
    known = sum(finding.known is not None for finding in findings)
    suffix = f" ({known} known)" if known else ""
    if examination.detail and only_path is None:
        return examination.detail + suffix
    reported = [
        finding for finding in findings if finding.known is None and finding.severity is not Severity.NOTE
    ]
    if reported:
        more = f" (and {len(reported) - 1} more)" if len(reported) > 1 else ""
        place = f"{reported[0].path}:{reported[0].line}: " if reported[0].line else ""
        return f"{place}{reported[0].message}{more}{suffix}"
    if examination.examined == 0:
        return f"examined nothing without a reason{suffix}"
    return f"{format_count(examination.examined, examination.unit)} examined{suffix}"


def _is_warning(result: CheckResult) -> bool:
    """Return whether the report lists the check under warnings. W2 is listed there although it can block."""
    return result.code.startswith("W") or not result.is_blocking


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
