from forge.sandbox.models import Guarantee, Level, Refused, SandboxReport
from forge.server.checks.check import Check, CheckStatus
from forge.server.checks.sandbox import judge

REPORT = SandboxReport(
    backend="landlock",
    level=Level.PARTIAL,
    guarantees={Guarantee.READS: True, Guarantee.PROCESS_LIST: False},
    tried=[Refused(backend="bubblewrap", why="no namespaces")],
    required=Level.ISOLATED,
    advice="Install it.",
)


def test_a_sandbox_that_is_too_weak_is_bad():
    assert judge(REPORT) == Check(
        name="sandbox",
        status=CheckStatus.BAD,
        finding="partial: landlock; does not guard process list (not taken: bubblewrap: no namespaces). "
        "Commands are refused: isolated is required",
        advice="Install it.",
    )


def test_a_weaker_sandbox_that_was_accepted_is_a_warning():
    accepted = judge(REPORT.model_copy(update={"required": Level.PARTIAL}))
    assert (accepted.status, accepted.advice) == (CheckStatus.WARN, "Install it.")


def test_the_best_sandbox_says_what_it_holds():
    best = {"backend": "bubblewrap", "level": Level.ISOLATED, "tried": [], "advice": None}
    found = judge(REPORT.model_copy(update={**best, "guarantees": {Guarantee.READS: True}}))
    assert found == Check(
        name="sandbox", status=CheckStatus.OK, finding="isolated: bubblewrap; all guarantees hold: reads"
    )
