"""Rendering the results of interviews."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from forge.interview.cli.renderers import made_page, trial_page
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


def render(page: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=200, markup=False, highlight=False).print(page)
    return out.getvalue()


@pytest.mark.parametrize(
    ("is_new", "hashes", "line"),
    [
        (True, {"ada/SOUL.md": "1"}, "✓ Created Ada (ada)"),
        (False, {"ada/SOUL.md": "1"}, "✓ Changed Ada (ada)"),
        (False, {}, "✓ No changes to Ada (ada)"),
    ],
    ids=["new", "changed", "unchanged"],
)
def test_heading_shows_whether_the_bot_was_created_or_changed(
    is_new: bool, hashes: dict[str, str], line: str
):
    made = Made(bots=[ADA.model_copy(update={"is_new": is_new})], hashes=hashes, at=AT)
    assert line in render(made_page(made))


def test_instructions_skill_has_no_tests():
    assert "The files are valid" in render(trial_page(TrialReport(ran=False, passed=True)))


def test_program_that_cannot_run_is_shown_as_failed():
    text = render(trial_page(TrialReport(ran=False, passed=False, output="The sandbox is too weak.")))
    assert "valid" not in text
    assert "failed  tests not run\nThe sandbox is too weak.\n" in text


def test_each_test_case_is_shown():
    cases = [Case(name="adds", passed=True), Case(name="rounds", passed=False, detail="It gave 1.")]
    report = TrialReport(ran=True, passed=False, cases=cases, sandbox="WebAssembly", duration_ms=7)
    text = render(trial_page(report))
    assert "failed  tests in the sandbox (WebAssembly, 7 ms)" in text
    assert "● passed adds\n● failed rounds\n  It gave 1.\n" in text
