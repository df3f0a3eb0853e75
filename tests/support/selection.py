"""Select the tests that `make test` runs, and report the slowest files.

`make test-full` (and plain `pytest`) runs everything. `make test` passes `--sample SEED`: tests marked `full` are skipped,
tests marked `sample(n)` run n of their parameter sets, and one in `POSTGRESQL_SHARE` of the tests that start all of Forge
runs on PostgreSQL too, unless it is marked `both_databases`. Tests of the bare store always run on both. The seed decides
which tests are selected; the same seed selects the same tests.
"""

import random
import zlib
from collections import defaultdict

import pytest

POSTGRESQL_SHARE = 10
SLOWEST_FILES = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", metavar="SEED", help="run a sample of the long tests, selected by this seed")


def pytest_report_header(config: pytest.Config) -> str:
    if seed := config.getoption("--sample"):
        return f"sample of the long tests; repeat it with --sample {seed}"
    return "all tests"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if seed := config.getoption("--sample"):
        selected = set(sample(items, seed))
        config.hook.pytest_deselected(items=[item for item in items if item not in selected])
        items[:] = [item for item in items if item in selected]


def sample(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Return the tests that a run with this seed executes; deterministic, because every xdist worker computes it."""

    def rank(item: pytest.Item) -> int:
        return zlib.crc32(f"{seed} {item.nodeid}".encode())

    selected: list[pytest.Item] = []
    by_test: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("full") or (_is_extra_database(item) and rank(item) % POSTGRESQL_SHARE):
            continue
        by_test[item.nodeid.partition("[")[0]].append(item)
    for cases in by_test.values():
        marker = cases[0].get_closest_marker("sample")
        selected += sorted(cases, key=rank)[: marker.args[0]] if marker else cases
    return selected


def _is_extra_database(item: pytest.Item) -> bool:
    """Return whether this is the PostgreSQL variant of a test of more than queries and locks."""
    if item.get_closest_marker("both_databases") or not isinstance(item, pytest.Function):
        return False
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return any(value == "postgresql" for name, value in parameters.items() if name != "store_url")


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Return whether all tests run; in a sample, repetitive tests use fewer repetitions."""
    return not pytestconfig.getoption("--sample")


@pytest.fixture
def chance(pytestconfig: pytest.Config) -> random.Random:
    """Return a random generator seeded with the sample's seed."""
    return random.Random(pytestconfig.getoption("--sample") or "all tests")


class SlowFiles:
    """Add up the durations of each file's tests, and print the slowest files at the end."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        slowest = sorted(self._seconds.items(), key=lambda entry: -entry[1])[:SLOWEST_FILES]
        if len(self._seconds) > SLOWEST_FILES:
            terminalreporter.section(f"{SLOWEST_FILES} slowest files")
            for path, seconds in slowest:
                terminalreporter.line(f"{seconds:7.1f} s  {path}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SlowFiles(), "slow-files")
