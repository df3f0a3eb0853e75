"""Choose what `make test` runs, and report which files took longest.

`make test-full` (and plain `pytest`) runs everything. `make test` passes `--sample SEED`: tests marked `full` are left out,
tests marked `sample(n)` run n of their parameter sets, and of the tests that start all of Forge on PostgreSQL one in
`POSTGRESQL_SHARE` runs there too, unless they are marked `both_databases`; those on a bare store always run on both. The
seed decides which, and the same seed chooses the same tests.
"""

import random
import zlib
from collections import defaultdict

import pytest

POSTGRESQL_SHARE = 10
SLOWEST_FILES = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", metavar="SEED", help="run a sample of the long tests, chosen by this seed")


def pytest_report_header(config: pytest.Config) -> str:
    if seed := config.getoption("--sample"):
        return f"sample of the long tests: repeat it with --sample {seed}"
    return "all tests, the long ones included"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if seed := config.getoption("--sample"):
        kept = set(sample(items, seed))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def sample(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Keep what a run with this seed executes. Every xdist worker has to come to the same answer."""

    def rank(item: pytest.Item) -> int:
        return zlib.crc32(f"{seed} {item.nodeid}".encode())

    chosen: list[pytest.Item] = []
    by_test: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("full") or (_is_extra_database(item) and rank(item) % POSTGRESQL_SHARE):
            continue
        by_test[item.nodeid.partition("[")[0]].append(item)
    for cases in by_test.values():
        marker = cases[0].get_closest_marker("sample")
        chosen += sorted(cases, key=rank)[: marker.args[0]] if marker else cases
    return chosen


def _is_extra_database(item: pytest.Item) -> bool:
    """Tell whether this is the PostgreSQL variant of a test that is about more than queries and locks."""
    if item.get_closest_marker("both_databases") or not isinstance(item, pytest.Function):
        return False
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return any(value == "postgresql" for name, value in parameters.items() if name != "store_url")


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Tell whether everything runs: a test that repeats itself does so less often in a sample."""
    return not pytestconfig.getoption("--sample")


@pytest.fixture
def chance(pytestconfig: pytest.Config) -> random.Random:
    """Random choices that the seed of the sample repeats."""
    return random.Random(pytestconfig.getoption("--sample") or "all tests")


class SlowFiles:
    """Add up how long the tests of each file took, and print the slowest files at the end."""

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
