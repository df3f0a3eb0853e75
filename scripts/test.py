"""Run the Python tests on all processors, and retry a few failed ones once, alone.

`make test` runs a sample of the long tests, selected by the content of the commit: the same content selects the same
tests. `make test-full` runs all of them. See tests/support/selection.py.

A test has to pass on a busy machine. The retry is for the rare one that does not; it is named at the end, because it
has to be fixed. If more than a few tests fail, they are not retried.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest"]
ON_ALL_PROCESSORS = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
TESTS_FAILED = 1
"""Pytest's exit code for failed tests. Other codes have causes that a retry does not fix."""
MAX_RETRIED = 3


def main(arguments: list[str], folder: Path = ROOT) -> int:
    with tempfile.TemporaryDirectory(prefix="forge-tests-") as cache:
        command = [*PYTEST, "-o", f"cache_dir={cache}", *arguments]
        code = run([*command, *ON_ALL_PROCESSORS], folder)
        failed = failures(Path(cache)) if code == TESTS_FAILED else []
        if not 0 < len(failed) <= MAX_RETRIED:
            return code
        report("Failed among the others, tried again alone", failed)
        code = run([*command, "--last-failed"], folder)
        if code == 0:
            report("Unsteady, to be fixed: failed among the others and passed alone", failed)
        return code


def run(command: list[str], folder: Path) -> int:
    # Tests start hundreds of processes; without bytecode each of them would compile all libraries again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def failures(cache: Path) -> list[str]:
    return sorted(json.loads((cache / "v/cache/lastfailed").read_text()))


def report(title: str, tests: list[str]) -> None:
    print("\n".join(["", f"{title}:", *(f"  {test}" for test in tests)]), flush=True)


def sampled(arguments: list[str]) -> list[str]:
    """Add the sample of the committed tree, unless the arguments request another one or everything."""
    if "--full" in arguments:
        return [argument for argument in arguments if argument != "--full"]
    if any(argument.startswith("--sample") for argument in arguments):
        return arguments
    command = [
        "git",
        "rev-parse",
        "--short=10",
        "HEAD^{tree}",
    ]  # a rebase or a new commit message selects the same tests
    tree = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return ["--sample", tree or "none", *arguments]


if __name__ == "__main__":
    sys.exit(main(sampled(sys.argv[1:])))
