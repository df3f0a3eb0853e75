"""How what came of an interview looks in a terminal."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from forge.interview.console.show import made_page, trial_page
from forge.interview.domain.state import BotMade, Made
from forge.skills.models import Case, TrialReport

AT = datetime(2026, 1, 1, tzinfo=UTC)
ADA = BotMade(
    bot_id="1",
    bot_slug="ada",
    bot_name="Ada",
    soul_path="SOUL.md",
    identity_path="IDENTITY.md",
    user_path="USER.md",
    skills_attached=[],
)


def drawn(what: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=200, markup=False, highlight=False).print(what)
    return out.getvalue()


@pytest.mark.parametrize(
    ("is_new", "hashes", "told"),
    [
        (True, {"ada/SOUL.md": "1"}, "✓ Made Ada (ada)"),
        (False, {"ada/SOUL.md": "1"}, "✓ Changed Ada (ada)"),
        (False, {}, "✓ Nothing was changed in Ada (ada)"),
    ],
    ids=["new", "changed", "as it was"],
)
def test_a_bot_is_told_to_be_changed_only_when_it_is(is_new: bool, hashes: dict[str, str], told: str):
    made = Made(bots=[ADA.model_copy(update={"is_new": is_new})], hashes=hashes, at=AT)
    assert told in drawn(made_page(made))


def test_instructions_have_nothing_to_run():
    assert "Its files are valid" in drawn(trial_page(TrialReport(ran=False, passed=True)))


def test_a_program_that_could_not_be_run_is_not_told_to_be_fine():
    shown = drawn(trial_page(TrialReport(ran=False, passed=False, output="The sandbox is too weak.")))
    assert "valid" not in shown
    assert "failed  its test, not run\nThe sandbox is too weak.\n" in shown


def test_each_case_of_a_test_is_told():
    cases = [Case(name="adds", passed=True), Case(name="rounds", passed=False, detail="It gave 1.")]
    report = TrialReport(ran=True, passed=False, cases=cases, sandbox="WebAssembly", duration_ms=7)
    shown = drawn(trial_page(report))
    assert "failed  its test, in the sandbox (WebAssembly, 7 ms)" in shown
    assert "ok  adds\n" in shown and "failed  rounds  It gave 1.\n" in shown
