"""The selection of tests in a sample (`tests/support/selection.py`)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

def test_short(): pass

@pytest.mark.full
def test_long(): pass

@pytest.mark.sample(3)
@pytest.mark.parametrize("case", range(50))
def test_cases(case): pass

@pytest.mark.parametrize("store_url", ["sqlite", "postgresql"])
@pytest.mark.parametrize("case", range(50))
def test_queries(case, store_url): pass

@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"])
@pytest.mark.parametrize("case", range(50))
def test_application(case, database_url): pass

@pytest.mark.both_databases
@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"])
def test_locks(database_url): pass
"""


def collect(folder: Path, *arguments: str) -> list[str]:
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.selection", "--collect-only", "-q"]
    environment = {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return [line.partition("::")[2] for line in result.stdout.splitlines() if "::" in line]


def count(tests: list[str], name: str, case: str = "") -> int:
    return sum(test.startswith(name) and case in test for test in tests)


def test_everything_runs_without_a_sample(tmp_path: Path):
    tests = collect(tmp_path)
    names = ("test_short", "test_long", "test_cases", "test_queries", "test_application", "test_locks")
    assert [count(tests, name) for name in names] == [1, 1, 50, 100, 100, 2]


def test_sample_leaves_out_long_tests_cases_and_databases(tmp_path: Path):
    tests = collect(tmp_path, "--sample", "abc")
    names = ("test_short", "test_long", "test_cases", "test_queries", "test_locks")
    assert [count(tests, name) for name in names] == [1, 0, 3, 100, 2]
    assert count(tests, "test_application", "sqlite") == 50
    assert 0 < count(tests, "test_application", "postgresql") < 20


def test_same_seed_chooses_the_same_tests(tmp_path: Path):
    first, again, other = (collect(tmp_path, "--sample", seed) for seed in ("abc", "abc", "def"))
    assert first == again != other
