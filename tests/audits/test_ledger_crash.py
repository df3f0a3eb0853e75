"""A writer is killed at every system call that changes something, and at random times."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audits.ledger_project import Ledger, new_ledger

CALLS = ("write", "fsync", "rename", "ftruncate", "mkdir")


class Killed(BaseException):
    """A BaseException, so that it is not caught by accident."""


def kill_at(monkeypatch: pytest.MonkeyPatch, count: int) -> Callable[[], int]:
    """Execute the call with this number partially and end there; return the number of calls."""
    made = 0

    def counted(name: str, real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal made
            made += 1
            if made == count and name == "write":
                real(given[0], bytes(given[1])[: len(given[1]) // 2])
            if made >= count:
                raise Killed
            return real(*given, **named)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, counted(name, getattr(os, name)))
    return lambda: made


def die_while_adding(ledger: Ledger, count: int) -> bool:
    """Return False if it was finished before the kill."""
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, count)
        try:
            ledger.add()
        except Killed:
            return True
    return False


@pytest.mark.parametrize("before", [0, 1, 3])
def test_ledger_is_repaired_after_kill_at_any_system_call(tmp_path: Path, before: int):
    for count in range(1, 100):
        (tmp_path / str(count)).mkdir()
        ledger = new_ledger(tmp_path / str(count), count=before)
        was = [line.hash for line in ledger.state().lines] if before else []
        is_dead = die_while_adding(ledger, count)
        if ledger.folder.exists() and ledger.records.exists():
            now = ledger.state()
            assert [line.hash for line in now.lines][:before] == was
            assert {problem.rule for problem in now.problems} <= {
                *("unfinished", "unfinished-line", "no-head", "empty", "edited-text")
            }
        ledger.add()
        state = ledger.state()
        assert (state.problems, [line.hash for line in state.lines][:before]) == ((), was), count
        assert len(state.lines) in (before + 1, before + 2)
        if not is_dead:
            assert count > 8
            return
    raise AssertionError("it never ended")


def test_entry_without_head_is_reported_and_completed(tmp_path: Path):
    ledger = new_ledger(tmp_path, count=2)
    head, text = ledger.head.read_bytes(), ledger.text.read_bytes()
    ledger.add()
    ledger.head.write_bytes(head)
    assert ledger.rules() == [("unfinished", 3)]
    ledger.text.write_bytes(text)
    assert ledger.rules() == [("unfinished", 3)]
    ledger.text.write_bytes(text[:-1])
    assert ledger.rules() == [("unfinished", 3), ("edited-text", None)]
    ledger.add()
    assert (ledger.state().problems, len(ledger.state().lines)) == ((), 4)


def test_ledger_continues_after_killed_process(tmp_path: Path):
    ledger = new_ledger(tmp_path, count=1)
    code = f"""
from pathlib import Path
from tests.audits.ledger_project import Ledger
from forge.audits.evidence.signing_keys import SigningKeys
ledger = Ledger(Path({str(ledger.root)!r}), SigningKeys(Path({str(ledger.keys._folder)!r})))
print("ready", flush=True)
while True: ledger.add()
"""
    for attempt in range(4):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        begun, size = time.monotonic(), ledger.records.stat().st_size
        while ledger.records.stat().st_size < size + 2000 * (attempt + 1) and time.monotonic() < begun + 30:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        ledger.add()
        assert ledger.state().problems == ()
