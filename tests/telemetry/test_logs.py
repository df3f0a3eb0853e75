"""Logs written to the file and to stderr."""

import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Callable
from io import StringIO
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any, TextIO

import pytest

from forge.errors import ConfigError
from forge.telemetry import Logs, bind, configure_logs
from forge.telemetry import logs as logs_module

Entries = Callable[..., list[dict[str, Any]]]

log = logging.getLogger("forge.test")
KEY = "sk-ant-api03-" + "a1B2" * 10


def write(message: str, *args: object, level: int = logging.INFO, **extra: object) -> None:
    """Log a record with a fixed time, so that it can be compared as a whole."""
    record = log.makeRecord(log.name, level, __file__, 1, message, args, None, extra=extra or None)
    record.created = 1_790_000_000.1234
    log.handle(record)


def test_record_is_one_json_object(entries: Entries):
    with bind(request_id="r1", run_id="w1"):
        write("moved %d of %s", 3, "seven", size=12, where={"path": Path("/a")})
    assert entries() == [
        {
            "at": "2026-09-21T14:13:20.123Z",
            "level": "info",
            "logger": "forge.test",
            "message": "moved 3 of seven",
            "request_id": "r1",
            "run_id": "w1",
            "size": 12,
            "where": {"path": "/a"},
        }
    ]


def test_exception_has_type_message_and_traceback(entries: Entries):
    try:
        raise ConfigError(["port: must be a number"])
    except ConfigError:
        log.exception("cannot start")
    (entry,) = entries()
    trace = entry["error"].pop("trace")
    assert entry["error"] == {"type": "forge.errors.ConfigError", "message": "port: must be a number"}
    assert trace.startswith("Traceback (most recent call last):\n")
    assert trace.endswith("forge.errors.ConfigError: port: must be a number")


def test_extra_field_cannot_replace_a_standard_field(entries: Entries):
    with bind(level="high"):
        write("hello", logger="x", error="y")
    (entry,) = entries()
    assert (entry["level"], entry["logger"]) == ("info", "forge.test")
    assert (entry["level_"], entry["logger_"], entry["error_"]) == ("high", "x", "y")


def test_extras_override_the_context(entries: Entries):
    with bind(run_id="w1"):
        write("hello", run_id="w2")
    assert [entry["run_id"] for entry in entries()] == ["w2"]


def test_no_secret_reaches_file_or_terminal(tmp_path: Path, entries: Entries, stderr: StringIO):
    try:
        raise ValueError(f"refused {KEY}")
    except ValueError:
        log.exception("with %s and %s", KEY, {"key": KEY}, extra={"key": KEY, "deep": [{KEY: KEY}]})
    log.warning("postgresql://forge:hunter2@db/forge is away", stack_info=True)
    assert len(entries()) == 2
    written = (tmp_path / "logs" / "forge.log").read_text() + stderr.getvalue()
    assert KEY not in written and "hunter2" not in written
    assert written.count("•••") >= 10


def test_unformattable_log_call_is_reported_without_arguments(
    entries: Entries, stderr: StringIO, monkeypatch: pytest.MonkeyPatch
):
    ours = [handler for handler in logging.getLogger().handlers if isinstance(handler, QueueHandler)]
    monkeypatch.setattr(logging.getLogger(), "handlers", ours)  # pytest's raises
    log.info("%d bytes", KEY)
    (entry,) = entries()
    assert (entry["level"], entry["message"]) == ("error", "a log message could not be formatted")
    assert entry["error"]["type"] == "TypeError"
    assert KEY not in stderr.getvalue()


def test_invalid_unicode_is_valid_json(entries: Entries):
    write("odd \udc80 name")
    assert entries()[0]["message"] == "odd \udc80 name"


def test_stderr_gets_readable_lines(entries: Entries, stderr: StringIO):
    with bind(run_id="w1"):
        write("moved", level=logging.WARNING, note="two words", size=3)
    entries()
    assert stderr.getvalue() == (
        '2026-09-21T14:13:20.123Z WARNING forge.test: moved run_id=w1 note="two words" size=3\n'
    )


def test_terminal_output_is_colored(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    logs = configure_logs(tmp_path, "info", terminal=True)
    write("moved", level=logging.ERROR)
    logs.close()
    assert "\x1b[31mERROR   \x1b[0mforge.test: moved\n" in capsys.readouterr().err


def test_control_characters_are_escaped(entries: Entries, stderr: StringIO):
    write("a\x1b[2Jb\rc\n2026-09-21T14:13:20.123Z INFO     forge: all is well", name_="\x9b1m")
    entries()
    assert stderr.getvalue() == (
        "2026-09-21T14:13:20.123Z INFO    forge.test: a\\x1b[2Jb\\x0dc\n"
        "    2026-09-21T14:13:20.123Z INFO     forge: all is well name_=\\x9b1m\n"
    )


def test_traceback_is_shown_below_its_line(entries: Entries, stderr: StringIO):
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("failed")
    entries()
    lines = stderr.getvalue().splitlines()
    assert lines[0].endswith("ERROR   forge.test: failed")
    assert lines[1] == "    Traceback (most recent call last):"
    assert lines[-1] == "    ValueError: no"


@pytest.mark.parametrize(
    ("level", "on_stderr", "in_file"),
    [
        ("debug", ["d", "i", "e"], ["i", "e"]),
        ("info", ["i", "e"], ["i", "e"]),
        ("error", ["e"], ["i", "e"]),
    ],
)
def test_level_applies_to_stderr_and_file_has_info(
    read_entries: Entries,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    level: str,
    on_stderr: list[str],
    in_file: list[str],
):
    logs = configure_logs(tmp_path, level, terminal=False)
    log.debug("d")
    log.info("i")
    log.error("e")
    logging.getLogger("asyncio").debug("a library's")
    logs.close()
    assert [line[-1] for line in capsys.readouterr().err.splitlines()] == on_stderr
    assert [entry["message"] for entry in read_entries()] == in_file


def test_log_file_is_rotated(
    read_entries: Entries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(logs_module, "MAX_BYTES", 2_000)
    logs = configure_logs(tmp_path, "error", terminal=False)
    for number in range(300):
        log.info("line %d", number)
    logs.close()
    files = sorted((tmp_path / "logs").iterdir())
    assert [file.name for file in files] == ["forge.log", *(f"forge.log.{n}" for n in range(1, 6))]
    assert all(file.stat().st_size <= 2_000 and mode(file) == 0o600 for file in files)
    kept = [entry["message"] for file in (*files[:0:-1], files[0]) for entry in read_entries(file.name)]
    assert kept == [f"line {number}" for number in range(300 - len(kept), 300)]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_log_files_are_private(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data_dir = tmp_path / "new" / "data"
    before = os.umask(0)
    try:
        configure_logs(data_dir, "info", terminal=False).close()
    finally:
        os.umask(before)
    assert [mode(data_dir), mode(data_dir / "logs"), mode(data_dir / "logs" / "forge.log")] == [
        0o700,
        0o700,
        0o600,
    ]


def test_public_logs_are_made_private(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "logs").mkdir(mode=0o755)
    (tmp_path / "logs" / "forge.log").touch(mode=0o644)
    configure_logs(tmp_path, "info", terminal=False).close()
    assert (mode(tmp_path / "logs"), mode(tmp_path / "logs" / "forge.log")) == (0o700, 0o600)


def test_unwritable_directory_is_a_config_error(tmp_path: Path):
    (tmp_path / "data").touch()
    with pytest.raises(ConfigError, match=r"Cannot write logs below .*/data: File exists"):
        configure_logs(tmp_path / "data", "info", terminal=False)


def test_close_writes_all_records_in_order(entries: Entries):
    for number in range(5_000):
        log.info("%d", number)
    assert [entry["message"] for entry in entries()] == [str(number) for number in range(5_000)]


def test_close_restores_logging(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def state() -> list[object]:
        names = ["", "forge", "uvicorn", "uvicorn.access", "dbos", "sqlalchemy", "alembic"]
        loggers = [logging.getLogger(name) for name in names]
        return [(logger.level, logger.propagate, list(logger.handlers)) for logger in loggers]

    uvicorn = logging.getLogger("uvicorn")
    handler = logging.StreamHandler(sys.stderr)
    without, threads = state(), set(threading.enumerate())
    uvicorn.addHandler(handler)
    before = state()
    logs = configure_logs(tmp_path, "debug", terminal=False)
    assert state() != before
    logs.close()
    logs.close()
    assert (state(), set(threading.enumerate()) - threads) == (before, set())
    uvicorn.removeHandler(handler)
    assert state() == without


class SlowOutput(logging.Handler):
    """A handler that blocks until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.is_busy = threading.Event()
        self.released = threading.Event()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.is_busy.set()
        self.released.wait()
        self.messages.append(record.getMessage())


def test_dropped_records_are_counted_and_reported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs_module, "MAX_WAITING", 10)
    monkeypatch.setattr(logs_module, "PATIENCE_S", 0.01)
    output = SlowOutput()
    logs = Logs(output, own_level=logging.INFO)
    log.info("0")
    output.is_busy.wait()
    for number in range(1, 50):
        log.info("%d", number)
    output.released.set()
    logs.close()
    *written, notice = output.messages
    assert written == [str(number) for number in range(len(written))]
    assert notice == (f"{50 - len(written)} log records were lost: the log queue was full")


def test_lost_records_are_reported_when_there_is_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs_module, "MAX_WAITING", 10)
    monkeypatch.setattr(logs_module, "PATIENCE_S", 0.01)
    output = SlowOutput()
    logs = Logs(output, own_level=logging.INFO)
    log.info("before")
    output.is_busy.wait()
    for _ in range(49):
        log.info("before")
    output.released.set()
    while "after" not in output.messages:
        log.info("after")
    logs.close()
    first = output.messages.index("after")
    assert "log records were lost" in output.messages[first - 1]
    assert set(output.messages[: first - 1]) == {"before"}


def test_full_queue_that_drains_loses_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs_module, "MAX_WAITING", 10)
    monkeypatch.setattr(logs_module, "PATIENCE_S", 60)
    output = SlowOutput()
    logs = Logs(output, own_level=logging.INFO)
    threading.Timer(0.05, output.released.set).start()
    for number in range(50):
        log.info("%d", number)
    logs.close()
    assert output.messages == [str(number) for number in range(50)]


def test_repeated_library_messages_are_logged_once(entries: Entries):
    exporter = logging.getLogger("opentelemetry.exporter.otlp")
    for attempt in range(5):
        exporter.warning("Transient error %s, retrying", attempt)
    exporter.error("Failed for good")
    for attempt in range(3):
        logging.getLogger("dbos").warning(
            f"No room, retrying in 1.{attempt}s (attempt {attempt})\n[SQL: {attempt}"
        )
    assert [entry["message"].partition("\n")[0] for entry in entries()] == [
        "Transient error 0, retrying",
        "Failed for good",
        "No room, retrying in 1.0s (attempt 0)",
    ]


def test_clock_set_back_mutes_no_library(entries: Entries, monkeypatch: pytest.MonkeyPatch):
    exporter = logging.getLogger("opentelemetry.exporter.otlp")
    exporter.warning("The collector is away")
    later = time.monotonic() + logs_module.REPEAT_S
    with monkeypatch.context() as patching:
        patching.setattr(time, "time", lambda: 1_000_000_000.0)
        patching.setattr(time, "monotonic", lambda: later)
        exporter.warning("The collector is away")
    assert [entry["message"] for entry in entries()] == ["The collector is away"] * 2


def test_library_debug_logs_are_dropped(entries: Entries):
    logging.getLogger("sqlalchemy.engine.Engine").info("SELECT secret")
    logging.getLogger("httpx2").info("HTTP Request: GET http://localhost")
    logging.getLogger("alembic.runtime.migration").info("Running upgrade 1 -> 2")
    logging.getLogger("sqlalchemy.pool").error("a connection was lost")
    assert [entry["message"] for entry in entries()] == ["a connection was lost"]


def full() -> TextIO:
    return os.fdopen(os.open("/dev/full", os.O_WRONLY), "w", buffering=1)


def test_unwritable_log_file_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(logs_module._PrivateFile, "_open", lambda _: full())
    logs = configure_logs(tmp_path, "info", terminal=False)
    for number in range(3):
        log.warning("number %d", number)
    logs.close()
    said = capsys.readouterr().err
    assert [said.count(f"number {number}") for number in range(3)] == [1, 1, 1]
    assert said.count("forge.log cannot be written: No space left on device.") == 1
    assert "Traceback" not in said


def test_stderr_on_a_full_disk_raises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs_module, "REPEAT_S", 0.0)
    monkeypatch.setattr(logs_module._PrivateFile, "_open", lambda _: full())
    with full() as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        logs = configure_logs(tmp_path, "error", terminal=False)
        for number in range(3):
            log.warning("number %d", number)
        logs.close()
        with pytest.raises(OSError, match="No space"):
            stderr.close()


def test_remembered_messages_are_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs_module, "MAX_REMEMBERED", 10)
    quiet = logs_module._RepeatFilter()
    for number in range(100):
        assert quiet.filter(logging.makeLogRecord({"name": "dbos", "levelno": 30, "msg": "no" * number}))
    assert len(quiet._logged_at) <= 10
