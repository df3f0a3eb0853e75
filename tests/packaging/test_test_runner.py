"""The script of `make test` retries failed tests once, alone."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import test; "
    "sys.exit(test.main(sys.argv[3:], Path(sys.argv[2])))"
)
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"
FAILS_ONCE = """
from pathlib import Path
def test_fails_once():
    marker = Path(__file__).with_name("marker")
    if not marker.exists():
        marker.touch()
        assert False
"""


def run(folder: Path, text: str, *arguments: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(PASSES + text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ROOT / "scripts"), str(folder), "-p", "no:anyio", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTEST_XDIST_AUTO_NUM_WORKERS": "1"},
    )
    return result.returncode, result.stdout + result.stderr


def test_nothing_is_retried_when_all_pass(tmp_path: Path):
    exit_code, output = run(tmp_path, "")
    assert (exit_code, "tried again" in output) == (0, False)


def test_test_that_passes_alone_is_named(tmp_path: Path):
    exit_code, output = run(tmp_path, FAILS_ONCE)
    assert exit_code == 0
    assert output.endswith("passed alone:\n  test_it.py::test_fails_once\n")
    assert "1 failed, 1 passed" in output


def test_repeated_failure_fails(tmp_path: Path):
    exit_code, output = run(tmp_path, FAILS + FAILS_ONCE)
    assert (exit_code, "tried again alone" in output, "Unsteady" in output) == (1, True, False)


def test_many_failures_are_not_retried(tmp_path: Path):
    failing = "\n".join(FAILS.replace("fails", f"fails_{number}") for number in range(4))
    exit_code, output = run(tmp_path, failing)
    assert (exit_code, "tried again" in output) == (1, False)


def test_other_failures_are_not_retried(tmp_path: Path):
    exit_code, output = run(tmp_path, "", "--no-such-option")
    assert (exit_code, "tried again" in output) == (4, False)
