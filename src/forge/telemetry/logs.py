"""Logs: JSON lines in a rotating file and readable lines on stderr, written by a thread so that a slow disk does not
block the event loop.

Python's logging is global to the process; `configure_logs` takes it over and `Logs.close` restores it.
"""

import logging
import os
import re
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue

from forge.errors import ConfigError
from forge.telemetry.log_entries import HumanLines, JsonLines, make_entry, record_with_entry

MAX_BYTES = 10_000_000
MAX_OLD_FILES = 5
MAX_WAITING = 10_000
PATIENCE_S = 1.0
REPEAT_S = 300.0
MAX_REMEMBERED = 1000
_NUMBERS = re.compile(r"\d+")
"""Ignored when comparing repeated messages such as "Retrying in 1.37s (attempt 4)"."""

_LIBRARIES: Mapping[str, int] = {
    "uvicorn": logging.WARNING,  # Forge logs the events that uvicorn logs at info
    "uvicorn.error": logging.NOTSET,
    "uvicorn.access": logging.NOTSET,
    "dbos": logging.WARNING,
    "sqlalchemy": logging.WARNING,  # below that it logs every statement with its values
    "alembic": logging.WARNING,
    "httpx2": logging.WARNING,
    "watchfiles": logging.WARNING,
    "cel": logging.ERROR,  # a failed expression is reported to its user, not logged
}


def configure_logs(data_dir: Path, level: str, *, terminal: bool, name: str = "forge") -> "Logs":
    """Start logging. `level` applies to stderr; `debug` applies to Forge only, libraries stay at info.

    `name` is the name of the log file. Each process needs its own file, because two processes cannot rotate the same one.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    try:
        file = _open_file(data_dir, name)
    except OSError as error:
        raise ConfigError([f"Cannot write logs below {data_dir}: {error.strerror or error}"]) from error
    return Logs(file, _open_stderr(threshold, colored=terminal), own_level=min(threshold, logging.INFO))


class Logs:
    """The configured logging. `close` writes what is queued and restores the previous configuration."""

    def __init__(self, *outputs: logging.Handler, own_level: int) -> None:
        self._outputs = outputs
        waiting: SimpleQueue[logging.LogRecord] = SimpleQueue()
        self._intake = _Intake(waiting)
        self._listener = QueueListener(waiting, *outputs, respect_handler_level=True)
        self._before = [_LoggerState.of(name) for name in ("", "forge", *_LIBRARIES)]
        self._open = True
        self._take_over(own_level)
        self._listener.start()

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        logging.getLogger().removeHandler(self._intake)
        for state in self._before:
            state.restore()
        self._intake.report_losses()
        self._listener.stop()
        for handler in (self._intake, *self._outputs):
            handler.close()

    def _take_over(self, own_level: int) -> None:
        for name, level in _LIBRARIES.items():
            logger = logging.getLogger(name)
            # For DBOS, which adds a handler to a logger without handlers and stops its propagation.
            logger.handlers = [logging.NullHandler()]
            logger.propagate = True
            logger.setLevel(level)
        access = logging.getLogger("uvicorn.access")
        access.handlers, access.propagate = (
            [],
            False,
        )  # uvicorn formats access lines only if there are handlers
        logging.getLogger("forge").setLevel(own_level)
        logging.getLogger().setLevel(logging.INFO)
        logging.getLogger().addHandler(self._intake)


class _Intake(QueueHandler):
    """Makes the entry of a record in the calling thread and queues it for the writing thread.

    The queue is a `SimpleQueue`, because only that can be used reentrantly from a finalizer; its limit is enforced here.
    If it is full, the caller waits a moment; records that still do not fit are counted, and the count is logged.
    """

    def __init__(self, waiting: "SimpleQueue[logging.LogRecord]") -> None:
        super().__init__(waiting)
        self._waiting = waiting
        self._lost = 0
        self.addFilter(_RepeatFilter())

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record_with_entry(record, make_entry(record))

    def enqueue(self, record: logging.LogRecord) -> None:
        if not self._has_room(0 if self._lost else PATIENCE_S):
            self._lost += 1
            return
        self.report_losses()
        self._waiting.put(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Log a record that cannot be formatted. The default would print its arguments, including secrets."""
        where = (record.name, logging.ERROR, record.pathname, record.lineno)
        failed = logging.LogRecord(*where, "a log message could not be formatted", None, sys.exc_info())
        self.enqueue(self.prepare(failed))

    def report_losses(self) -> None:
        if lost := self._lost:
            self._lost = 0
            text = "%d log records were lost: the log queue was full"
            notice = logging.LogRecord(__name__, logging.WARNING, __file__, 0, text, (lost,), None)
            self._waiting.put(self.prepare(notice))

    def _has_room(self, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while self._waiting.qsize() >= MAX_WAITING:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.002)
        return True


class _RepeatFilter(logging.Filter):
    """Filters records of libraries that levels cannot: DBOS resets its level when it starts and repeats a message ten times
    a second while the database is not writable; OpenTelemetry repeats one per batch while the collector is down."""

    def __init__(self) -> None:
        super().__init__()
        self._logged_at: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        library = record.name.partition(".")[0]
        if library == "dbos" and record.levelno < logging.WARNING:
            return False
        return library not in {"dbos", "opentelemetry"} or self._is_new(record)

    def _is_new(self, record: logging.LogRecord) -> bool:
        what = (record.name, _NUMBERS.sub("#", str(record.msg).partition("\n")[0]))
        at = time.monotonic()
        if at - self._logged_at.get(what, -REPEAT_S) < REPEAT_S:
            return False
        if len(self._logged_at) >= MAX_REMEMBERED:
            self._logged_at.clear()
        self._logged_at[what] = at
        return True


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner can read, also if it existed before.

    While it cannot be written, for instance on a full disk, lines are lost and stderr gets a message.
    """

    _reported_at = -REPEAT_S

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
        elif time.monotonic() - self._reported_at >= REPEAT_S:
            self._reported_at = time.monotonic()
            _print_error(f"The log {self.baseFilename} cannot be written: {error.strerror or error}.")

    def close(self) -> None:
        try:
            super().close()
        except OSError as error:
            _print_error(f"The end of the log {self.baseFilename} was lost: {error.strerror or error}.")

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        Path(self.baseFilename).chmod(0o600)
        # A lone surrogate becomes \udcXX: JSON's own way to write it.
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def _print_error(text: str) -> None:
    """Write to stderr if possible: it may be redirected to the same full disk, or closed."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{text}\n")


@dataclass(frozen=True)
class _LoggerState:
    logger: logging.Logger
    level: int
    propagate: bool
    handlers: tuple[logging.Handler, ...]

    @classmethod
    def of(cls, name: str) -> "_LoggerState":
        logger = logging.getLogger(name)
        return cls(logger, logger.level, logger.propagate, tuple(logger.handlers))

    def restore(self) -> None:
        self.logger.setLevel(self.level)
        self.logger.propagate = self.propagate
        if self.logger is not logging.getLogger():
            self.logger.handlers = list(self.handlers)


def _open_file(data_dir: Path, name: str) -> logging.Handler:
    folder = data_dir / "logs"
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    handler = _PrivateFile(
        folder / f"{name}.log", maxBytes=MAX_BYTES, backupCount=MAX_OLD_FILES, encoding="utf-8"
    )
    handler.setLevel(logging.INFO)
    handler.setFormatter(JsonLines())
    return handler


def _open_stderr(threshold: int, *, colored: bool) -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(threshold)
    handler.setFormatter(HumanLines(colored=colored))
    return handler
