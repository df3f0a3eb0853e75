from forge.sandbox.models import Guarantee, Level, Refused, SandboxReport
from forge.server.checks.check import Check, CheckStatus
from forge.server.checks.services import sandbox_result

REPORT = SandboxReport(
    backend="landlock",
    level=Level.PARTIAL,
    guarantees={Guarantee.READS: True, Guarantee.PROCESS_LIST: False},
    tried=[Refused(backend="bubblewrap", why="no namespaces")],
    required=Level.ISOLATED,
    advice="Install it.",
)


def test_sandbox_below_the_required_level_is_bad():
    assert sandbox_result(REPORT) == Check(
        name="sandbox",
        status=CheckStatus.BAD,
        finding="partial: landlock; does not guarantee process list (rejected: bubblewrap: no namespaces). "
        "Commands are rejected: isolated is required",
        advice="Install it.",
    )


def test_accepted_weaker_sandbox_is_a_warning():
    accepted = sandbox_result(REPORT.model_copy(update={"required": Level.PARTIAL}))
    assert (accepted.status, accepted.advice) == (CheckStatus.WARN, "Install it.")


def test_isolated_sandbox_lists_its_guarantees():
    best = {"backend": "bubblewrap", "level": Level.ISOLATED, "tried": [], "advice": None}
    found = sandbox_result(REPORT.model_copy(update={**best, "guarantees": {Guarantee.READS: True}}))
    assert found == Check(
        name="sandbox", status=CheckStatus.OK, finding="isolated: bubblewrap; all guarantees hold: reads"
    )
