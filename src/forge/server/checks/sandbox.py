"""How well commands can be locked in here: observed by the sandbox's own self-test, not guessed from versions."""

import asyncio

from forge.sandbox.choice import Sandboxes
from forge.sandbox.models import Level, SandboxReport
from forge.server.checks.check import Check, Situation, bad, ok, warn


def check_sandbox(situation: Situation) -> Check:
    required = Level(situation.settings.sandbox_required)
    return judge(asyncio.run(Sandboxes(required).open()))


def judge(report: SandboxReport) -> Check:
    finding = f"{report.level}: {report.backend}; {_held(report)}"
    if refused := "; ".join(f"{each.backend}: {each.why}" for each in report.tried):
        finding += f" (not taken: {refused})"
    if not report.level.satisfies(report.required):
        return bad(
            "sandbox", f"{finding}. Commands are refused: {report.required} is required", report.advice or ""
        )
    if report.advice:
        return warn("sandbox", finding, report.advice)
    return ok("sandbox", finding)


def _held(report: SandboxReport) -> str:
    broken = [name.replace("_", " ") for name, holds in report.guarantees.items() if not holds]
    if not broken:
        return "all guarantees hold: " + ", ".join(name.replace("_", " ") for name in report.guarantees)
    return "does not guard " + ", ".join(broken)
