"""Log entries: a log record as one redacted object, formatted as a JSON line or as readable text."""

import json
import logging
import re
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import cast

from forge.telemetry.redaction import redact_mapping

_NOTHING: Mapping[str, object] = MappingProxyType({})
_bound: ContextVar[Mapping[str, object]] = ContextVar("forge_log_context", default=_NOTHING)


def current() -> Mapping[str, object]:
    """Return the bound fields, outermost first. A task inherits those of the task that created it."""
    return _bound.get()


@contextmanager
def bind(**fields: object) -> Generator[None]:
    """Add fields to every log line written inside; None removes a field."""
    merged = {**_bound.get(), **fields}
    known = {name: value for name, value in merged.items() if value is not None}
    token = _bound.set(MappingProxyType(known))
    try:
        yield
    finally:
        _bound.reset(token)


Entry = Mapping[str, object]

_IGNORED_EXTRAS = {"color_message", "applicationID", "applicationVersion", "executorID"}
_NOT_EXTRA = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"} | _IGNORED_EXTRAS
_STANDARD_FIELDS = frozenset({"at", "level", "logger", "message", "error", "stack"})
_DBOS_RUN_ID = "operationUUID"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RESET, _DIM = "\x1b[0m", "\x1b[2m"
_COLORS = {"debug": "\x1b[36m", "info": "\x1b[32m", "warning": "\x1b[33m"}
_RED = "\x1b[31m"


def make_entry(record: logging.LogRecord) -> Entry:
    """Make the entry of a record. Must be called in the context that created the record."""
    entry: dict[str, object] = {
        "at": _at(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
        **_fields_of(record),
    }
    if record.exc_info and record.exc_info[1]:
        entry["error"] = _error(record.exc_info[1])
    if record.stack_info:
        entry["stack"] = record.stack_info
    return redact_mapping(entry)


def _at(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _fields_of(record: logging.LogRecord) -> dict[str, object]:
    """Return the bound fields and the extras. Names that collide with standard fields get an underscore."""
    extras = {name: value for name, value in vars(record).items() if name not in _NOT_EXTRA}
    fields = {**current(), **extras}
    if run_id := fields.pop(_DBOS_RUN_ID, None):
        fields.setdefault("run_id", run_id)
    return {f"{name}_" if name in _STANDARD_FIELDS else name: value for name, value in fields.items()}


def _error(error: BaseException) -> dict[str, object]:
    kind = type(error)
    home = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    trace = "".join(traceback.format_exception(error)).rstrip("\n")
    return {"type": home + kind.__qualname__, "message": error, "trace": trace}


def record_with_entry(record: logging.LogRecord, entry: Entry) -> logging.LogRecord:
    """Return a record that carries only its entry, for use in another thread."""
    return logging.makeLogRecord(
        {
            "name": record.name,
            "levelno": record.levelno,
            "levelname": record.levelname,
            "created": record.created,
            "msg": entry["message"],
            "args": None,
            "entry": entry,
        }
    )


def _entry(record: logging.LogRecord) -> Entry:
    return cast("Entry", vars(record)["entry"])


class JsonLines(logging.Formatter):
    """JSON, one object per line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_entry(record), ensure_ascii=False, separators=(",", ":"))


class HumanLines(logging.Formatter):
    """Readable text: local time and colors on a terminal, UTC and plain text elsewhere.

    A message cannot control the terminal or forge log lines: control characters are escaped, further lines are indented.
    """

    def __init__(self, *, colored: bool) -> None:
        super().__init__()
        self._colored = colored

    def format(self, record: logging.LogRecord) -> str:
        entry = _entry(record)
        level, logger = str(entry["level"]), str(entry["logger"])
        head = f"{self._clock(record, entry)} {self._paint(level, f'{level.upper():8}')}{logger}: "
        line = head + _escape_control(str(entry["message"]))
        if fields := _fields(entry):
            line += " " + self._paint(None, _escape_control(fields))
        return line + "".join(f"\n    {_escape_control(text)}" for text in _detail_lines(entry))

    def _clock(self, record: logging.LogRecord, entry: Entry) -> str:
        if not self._colored:
            return str(entry["at"])
        return self._paint(None, _at(record).astimezone().strftime("%H:%M:%S"))

    def _paint(self, level: str | None, text: str) -> str:
        if not self._colored:
            return text
        return (_COLORS.get(level, _RED) if level else _DIM) + text + _RESET


def _fields(entry: Entry) -> str:
    return " ".join(
        f"{name}={_short(value)}" for name, value in entry.items() if name not in _STANDARD_FIELDS
    )


def _short(value: object) -> str:
    if isinstance(value, str) and value and " " not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _detail_lines(entry: Entry) -> list[str]:
    error = cast("Mapping[str, object]", entry.get("error", {}))
    return [str(text) for text in (error.get("trace"), entry.get("stack")) if text]


def _escape_control(text: str) -> str:
    shown = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return shown.replace("\n", "\n    ")
