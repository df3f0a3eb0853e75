"""Custom checks: loaded by their entry points, tested with their own examples, and isolated if they fail."""

from importlib.metadata import EntryPoint

import pytest

from forge.audits.check import Check, Examination, Fixture, Found, examined
from forge.audits.engine.check_runner import run_checks
from forge.audits.engine.registry import GROUP, load_checks, select_checks
from forge.audits.engine.self_test import run_self_tests
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity, Verdict
from forge.errors import Invalid
from forge.kernel.clock import now

OWN = ["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "W1", "W2", "W3"]


def nothing(_: object) -> Examination:
    return examined([], 1, "files")


def test_built_in_checks_are_loaded_in_order():
    assert [check.code for check in load_checks([])] == OWN


def test_every_built_in_check_passes_self_test():
    assert {proof.code: proof.problems for proof in run_self_tests(load_checks([]))} == {
        code: [] for code in OWN
    }


@pytest.mark.parametrize("check", load_checks([]), ids=lambda check: check.code)
def test_every_check_has_documentation(check: Check):
    assert len(check.docs) > 200 and len(check.why) > 20


@pytest.mark.parametrize("check", load_checks([]), ids=lambda check: check.code)
def test_no_check_passes_empty_project(check: Check):
    report = run_checks(snapshot_of({}), [check], at=now())
    assert report.results[0].result is not Verdict.PASS


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module_anywhere:CHECK", "ModuleNotFoundError"),
        ("json:dumps", "is not a Check"),
        ("forge.audits.checks.a1_scope:CHECK", "its code A1 is taken"),
    ],
)
def test_unusable_check_blocks_with_reason(value: str, reason: str):
    checks = load_checks([EntryPoint("ours", value, GROUP)])
    report = run_checks(snapshot_of({"a.py": ""}), select_checks(checks, ["OURS"]), at=now())
    assert (report.overall, report.checks[0].result) == (Verdict.FAIL, Verdict.ERROR)
    assert reason in report.checks[0].detail


def test_unknown_check_code_is_refused():
    with pytest.raises(Invalid, match="no check A99"):
        select_checks(load_checks([]), ["a4", "A99"])
    assert [check.code for check in select_checks(load_checks([]), ["w1 ", "a4"])] == ["A4", "W1"]


def test_check_that_catches_nothing_is_unsound():
    good = Fixture("good", lambda: snapshot_of({}), "PASS")
    bad = Fixture("bad", lambda: snapshot_of({}), "FAIL")
    proofs = run_self_tests(
        [Check("X", "x", "", "", nothing, fixtures) for fixtures in ((), (good,), (good, bad))]
    )
    assert [proof.problems for proof in proofs] == [
        ["it has no failing example", "it has no passing example"],
        ["it has no failing example"],
        ["bad: PASS instead of FAIL"],
    ]


def test_check_with_invalid_results_is_unsound():
    def generates(_: object) -> Examination:
        bad = Found("odd", Severity.FAIL, "It is odd.", "Make it even.")
        return Examination((one for one in [bad]), 1, "files")  # type: ignore[arg-type]

    good = Fixture("good", lambda: snapshot_of({}), "PASS")
    bad = Fixture("bad", lambda: snapshot_of({}), "FAIL", ("odd",))
    answers = (generates, lambda _: 5, lambda _: Examination((5,), 1, "files"))  # type: ignore[arg-type]
    proofs = run_self_tests([Check("X", "x", "", "", answer, (good, bad)) for answer in answers])  # type: ignore[arg-type]
    assert [proof.problems for proof in proofs] == [
        ["good: FAIL instead of PASS"],
        [f"{name}: TypeError: it returned int, not an Examination" for name in ("good", "bad")],
        [f"{name}: TypeError: it found int, not Found" for name in ("good", "bad")],
    ]
