"""What failed among other tests is tried once more, alone: by the script that `make test` starts."""

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
    was_here = Path(__file__).with_name("was-here")
    if not was_here.exists():
        was_here.touch()
        assert False
"""


def run(folder: Path, text: str, *arguments: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(PASSES + text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ROOT / "scripts"), str(folder), "-p", "no:anyio", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTEST_XDIST_AUTO_NUM_WORKERS": "1"},
    )
    return done.returncode, done.stdout + done.stderr


def test_nothing_is_retried_when_all_pass(tmp_path: Path):
    code, said = run(tmp_path, "")
    assert (code, "tried again" in said) == (0, False)


def test_test_that_passes_alone_is_named(tmp_path: Path):
    code, said = run(tmp_path, FAILS_ONCE)
    assert code == 0
    assert said.endswith("passed alone:\n  test_it.py::test_fails_once\n")
    assert "1 failed, 1 passed" in said


def test_repeated_failure_fails(tmp_path: Path):
    code, said = run(tmp_path, FAILS + FAILS_ONCE)
    assert (code, "tried again alone" in said, "Unsteady" in said) == (1, True, False)


def test_many_failures_are_not_retried(tmp_path: Path):
    many = "\n".join(FAILS.replace("fails", f"fails_{number}") for number in range(4))
    code, said = run(tmp_path, many)
    assert (code, "tried again" in said) == (1, False)


def test_other_failures_are_not_retried(tmp_path: Path):
    code, said = run(tmp_path, "", "--no-such-option")
    assert (code, "tried again" in said) == (4, False)
