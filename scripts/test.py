"""Runs the Python tests on all processors; what failed there is tried once more, alone.

A test has to hold with the machine full of others. But among many thousands that kill, race and wait there is one, now
and then, that does not, and everybody learns to start the tests again. That is done here instead: once, in the open,
and by name, as each such test has a fault to mend, its own or Forge's. More than a few failures are no accident.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest"]
ON_ALL_PROCESSORS = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
SOME_FAILED = 1
"""Pytest's own number; every other one is no question of a test."""
MOST = 3


def main(arguments: list[str], folder: Path = ROOT) -> int:
    with tempfile.TemporaryDirectory(prefix="forge-tests-") as memory:
        command = [*PYTEST, "-o", f"cache_dir={memory}", *arguments]
        code = subprocess.run([*command, *ON_ALL_PROCESSORS], cwd=folder, check=False).returncode
        failed = failures(Path(memory)) if code == SOME_FAILED else []
        if not 0 < len(failed) <= MOST:
            return code
        say("Failed among the others, tried again alone", failed)
        code = subprocess.run([*command, "--last-failed"], cwd=folder, check=False).returncode
        if code == 0:
            say("Unsteady, to be mended: failed among the others and passed alone", failed)
        return code


def failures(memory: Path) -> list[str]:
    """As pytest keeps them."""
    return sorted(json.loads((memory / "v/cache/lastfailed").read_text()))


def say(what: str, tests: list[str]) -> None:
    print("\n".join(["", f"{what}:", *(f"  {test}" for test in tests)]), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
