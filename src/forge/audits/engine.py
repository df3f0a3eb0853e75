"""The engine: a snapshot and some checks in, one report out. Nothing here touches a disk, a database or a clock.

Checks run one after another: what takes time in them is reading files, and that is what the desk does in parallel and
remembers. A check that breaks is an ERROR of that check, and the others go on.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from forge.audits.baseline import NEVER, Baseline, read_baseline
from forge.audits.check import Check, Examination, Found, unexamined
from forge.audits.counting import counted
from forge.audits.findings import Describer, shown_text
from forge.audits.models import AuditReport, CheckResult, Finding, Severity, Verdict
from forge.audits.paths import same_path, shown
from forge.audits.snapshot import Snapshot
from forge.errors import ForgeError, Invalid

log = logging.getLogger(__name__)

OnResult = Callable[[CheckResult], None]
_ORDER = (Severity.FAIL, Severity.ERROR, Severity.WARN)
_VERDICTS = {Severity.FAIL: Verdict.FAIL, Severity.ERROR: Verdict.ERROR, Severity.WARN: Verdict.WARN}


def audit(
    snapshot: Snapshot,
    checks: Iterable[Check],
    *,
    at: datetime,
    only_path: str | None = None,
    place: str = "",
    on_result: OnResult = lambda _: None,
) -> AuditReport:
    """`only_path` leaves the findings about other files away, as the command behind each finding does. `place`: how the
    project is named in those commands; nothing when one stands in it."""
    began = time.monotonic()
    only = None if only_path is None else _find_path(snapshot, only_path)
    baseline = read_baseline(snapshot)
    results: list[CheckResult] = []
    for check in checks:
        results.append(_run(check, snapshot, Describer(check, snapshot, baseline, place), only))
        on_result(results[-1])
    return AuditReport(
        phase=snapshot.phase,
        timestamp=at,
        overall=Verdict.FAIL if any(result.result.blocks for result in results) else Verdict.PASS,
        checks=[result for result in results if not _is_warning(result)],
        warnings=[result for result in results if _is_warning(result)],
        project=snapshot.name,
        branch=snapshot.branch and shown(snapshot.branch),
        head=snapshot.head,
        base=snapshot.base,
        tree=snapshot.tree_id,
        claimed_files=None if snapshot.claims is None else sorted(map(shown, snapshot.claims.files)),
        changed_files=len(snapshot.changes),
        duration_ms=_since(began),
    )


def judge(check: Check, examination: Examination) -> Verdict:
    """What the findings of a check add up to, when nothing of it is known and accepted."""
    return _judge(check, examination, [one.severity for one in examination.found])


def _judge(check: Check, examination: Examination, severities: Sequence[Severity]) -> Verdict:
    if examination.skipped is not None:
        return Verdict.SKIP
    worst = next((severity for severity in _ORDER if severity in severities), None)
    verdict = _VERDICTS[worst] if worst else Verdict.PASS
    if verdict is Verdict.PASS and examination.examined == 0:
        return Verdict.ERROR
    return Verdict.WARN if verdict is Verdict.FAIL and not check.is_blocking else verdict


def _run(check: Check, snapshot: Snapshot, describe: Describer, only_path: str | None) -> CheckResult:
    """What a check hands over is told within its own try: nonsense in it is a defect of that check, too."""
    began = time.monotonic()
    try:
        examination = _doubtful(check, describe.baseline) or checked(check.examine(snapshot))
        return _result(check, examination, describe, only_path, began)
    except ForgeError as error:
        examination = _refused(error)
    except Exception as error:
        log.warning("check %s broke", check.code, exc_info=True)
        examination = _broken(check, error)
    return _result(check, examination, describe, only_path, began)


def _result(
    check: Check, examination: Examination, describe: Describer, only_path: str | None, began: float
) -> CheckResult:
    found = [one for one in examination.found if only_path is None or one.path in (None, only_path)]
    findings = [describe(one) for one in found]
    severities = [finding.severity for finding in findings if finding.known is None]
    return CheckResult(
        code=check.code,
        name=check.name,
        result=_judge(check, examination, severities),
        detail=shown_text(_detail(examination, findings, only_path)),
        is_blocking=check.is_blocking,
        findings=findings,
        examined=examination.examined,
        unit=examination.unit,
        duration_ms=_since(began),
    )


def checked(examination: object) -> Examination:
    """What a team's check returns may be anything; what can be looked at once only is kept."""
    if not isinstance(examination, Examination):
        raise TypeError(f"it returned {type(examination).__name__}, not an Examination")
    found = tuple(examination.found)
    if strange := next((one for one in found if not isinstance(one, Found)), None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"it found {type(strange).__name__}, not Found")
    return replace(examination, found=found)


def _doubtful(check: Check, baseline: Baseline) -> Examination | None:
    if baseline.problem is None or check.code in NEVER:
        return None
    return _refused(
        Invalid(
            f"{baseline.problem}.", hint="Correct it, or remove it and write a new one: forge audit baseline"
        )
    )


def _find_path(snapshot: Snapshot, given: str) -> str:
    """The file somebody means, as the snapshot calls it; one that was deleted counts."""
    known = {*snapshot.tree.entries, *(path for change in snapshot.changes for path in change.paths)}
    if snapshot.claims is not None:
        known |= snapshot.claims.files
    found = next((path for path in sorted(known) if same_path(given, path)), None)
    if found is None:
        raise Invalid(
            f"There is no file {shown(given)} in this project.", hint="Name it from the top of the project."
        )
    return found


def _refused(error: ForgeError) -> Examination:
    """Something it needs cannot be had, and the error says what."""
    return unexamined("not-examined", error.message, error.hint or "Make it readable, then audit again.")


def _broken(check: Check, error: Exception) -> Examination:
    message = f"{check.code} itself broke: {type(error).__name__}: {str(error)[:300]}"
    fix = "This is a defect of the check, not of the project; the log has the details."
    return unexamined("broken-check", message, fix)


def _detail(examination: Examination, findings: Sequence[Finding], only_path: str | None) -> str:
    if examination.skipped is not None:
        return examination.skipped
    if only_path is not None and not findings:
        return f"nothing about {shown(only_path)}"
    known = sum(finding.known is not None for finding in findings)
    suffix = f" ({known} known)" if known else ""
    if examination.detail and only_path is None:
        return examination.detail + suffix
    told = [
        finding for finding in findings if finding.known is None and finding.severity is not Severity.NOTE
    ]
    if told:
        more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
        place = f"{told[0].path}:{told[0].line}: " if told[0].line else ""
        return f"{place}{told[0].message}{more}{suffix}"
    if examination.examined == 0:
        return f"examined nothing, and the check does not say why{suffix}"
    return f"{counted(examination.examined, examination.unit)} examined{suffix}"


def _is_warning(result: CheckResult) -> bool:
    """Where a report lists it; W2 is among the warnings, and yet a forged ledger blocks."""
    return result.code.startswith("W") or not result.is_blocking


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
