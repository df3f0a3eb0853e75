"""Test counts from reports of the runners; invalid reports have no counts."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.agents.commands.command_rules import Runner
from forge.agents.commands.reports import Counts, Report, read_jest, read_junit, report_folder

PYTEST = b"""<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1"
failures="1" skipped="1" tests="5"><testcase name="a" /><testcase name="b" time="0.1"><failure message="x">E</failure>
</testcase><testcase name="c"><skipped type="pytest.skip" message="m">s</skipped></testcase><testcase name="d"><error
message="e">t</error></testcase><testcase name="e"><system-out>1 failed</system-out></testcase></testsuite></testsuites>"""
NODE = b"""<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="s" tests="2" failures="1">
<testcase name="a"/><testcase name="b" failure="no"><failure type="testCodeFailure">x</failure></testcase></testsuite>
<testcase name="c"><skipped type="todo" message="t"/></testcase></testsuites>"""
JEST = (
    b'{"numPassedTests": 3, "numFailedTests": 1, "numPendingTests": 2, "numTodoTests": 1, "success": false}'
)
BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="&b;"/></testsuites>"""
OUTSIDE = (
    b"""<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites><testcase/></testsuites>"""
)


def test_cases_are_counted_by_their_elements():
    assert read_junit(PYTEST) == Counts(passed=2, failed=2, skipped=1)
    assert read_junit(NODE) == Counts(passed=1, failed=1, skipped=1)
    assert read_jest(JEST) == Counts(passed=3, failed=1, skipped=3)


def test_claimed_totals_are_ignored():
    lie = b'<testsuites><testsuite tests="99" failures="0"><testcase><failure/></testcase></testsuite></testsuites>'
    assert read_junit(lie) == Counts(passed=0, failed=1, skipped=0)


@pytest.mark.parametrize(
    "data",
    [b"", b"<", b"12 passed", b"<a><b></a>", BOMB, OUTSIDE, b"\0" * 100, b"<a>&undefined;</a>", b"\xff\xfe<"],
)
def test_invalid_junit_report_has_no_counts(data: bytes):
    assert read_junit(data) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"numPassedTests": -1}',
        JEST.replace(b"3", b'"x"'),
        JEST.replace(b"3", b"1000000001"),
        JEST.replace(b"3", b"9" * 4_000),
        JEST.replace(b"3", b"1e300"),
        JEST.replace(b"2", b"1000000000"),
        b"\xff",
    ],
)
def test_invalid_json_report_has_no_counts(data: bytes):
    assert read_jest(data) is None


@given(st.binary(max_size=200))
def test_arbitrary_bytes_never_raise(data: bytes):
    for head in (b"", b"<testsuites>", b"{"):
        read_junit(head + data)
        read_jest(head + data)


def test_deep_nesting_is_counted():
    assert read_junit(b"<a>" * 200_000 + b"<testcase/>" + b"</a>" * 200_000) == Counts(1, 0, 0)


@pytest.mark.parametrize("put", ["link", "pipe", "folder", "huge", "nothing"])
def test_report_is_read_only_from_regular_file(tmp_path: Path, put: str):
    secret = tmp_path / "secret"
    secret.write_bytes(PYTEST)
    folder = tmp_path / "folder"
    folder.mkdir()
    place = folder / "report"
    if put == "link":
        place.symlink_to(secret)
    elif put == "pipe":
        os.mkfifo(place)
    elif put == "folder":
        place.mkdir()
    elif put == "huge":
        with place.open("wb") as file:
            file.truncate(21 << 20)
    assert Report(folder).counts(Runner.PYTEST) is None
    place.rmdir() if put == "folder" else place.unlink(missing_ok=True)
    place.write_bytes(PYTEST)
    assert Report(folder).counts(Runner.PYTEST) == Counts(2, 2, 1)


async def test_report_folder_is_always_removed(tmp_path: Path):
    async with report_folder(tmp_path) as report:
        fill(report.folder)
    assert not report.folder.exists()


def fill(folder: Path) -> None:
    """Create inaccessible folders, and a tree deeper than Python's recursion limit."""
    closed = folder / "closed"
    (closed / "inside").mkdir(parents=True)
    closed.chmod(0)
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
