"""The checks of audits, tried on their own examples: those of the running server, or those installed here."""

from forge.api.models import AuditChecks
from forge.server.checks.check import Check, Situation, bad, ok

NAME = "audit checks"


def check_audit_checks(situation: Situation) -> Check:
    told = situation.server.status.audit_checks if situation.server else None
    return judge(told or _prove())


def judge(checks: AuditChecks) -> Check:
    total = checks.sound + len(checks.unsound)
    finding = f"{checks.sound} of {total} are sound"
    if not checks.unsound:
        return ok(NAME, finding)
    why = "; ".join(f"{code}: {problems[0]}" for code, problems in checks.unsound.items())
    return bad(NAME, f"{finding} ({why})", "Repair or uninstall them: forge audit --self-test tells more.")


def _prove() -> AuditChecks:
    from forge.audits.registry import load_checks
    from forge.audits.selftest import prove

    return AuditChecks.of(prove(load_checks()))
