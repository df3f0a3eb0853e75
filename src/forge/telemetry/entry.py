"""A log record as one redacted object, and the two ways to write it down: a JSON line, a line for people."""

import json
import logging
import re
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from forge.telemetry.context import current
from forge.telemetry.redaction import redact_mapping

Entry = Mapping[str, object]

_LIBRARY_NOISE = {"color_message", "applicationID", "applicationVersion", "executorID"}
_NOT_EXTRA = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"} | _LIBRARY_NOISE
_OWN = frozenset({"at", "level", "logger", "message", "error", "stack"})
_DBOS_RUN_ID = "operationUUID"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RESET, _DIM = "\x1b[0m", "\x1b[2m"
_COLOURS = {"debug": "\x1b[36m", "info": "\x1b[32m", "warning": "\x1b[33m"}
_RED = "\x1b[31m"


def describe(record: logging.LogRecord) -> Entry:
    """Everything worth keeping of a record. Call it where the record was made: it reads the context."""
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
    """The context and the extras. One that has the name of a field of ours gets an underscore."""
    extras = {name: value for name, value in vars(record).items() if name not in _NOT_EXTRA}
    fields = {**current(), **extras}
    if run_id := fields.pop(_DBOS_RUN_ID, None):
        fields.setdefault("run_id", run_id)
    return {f"{name}_" if name in _OWN else name: value for name, value in fields.items()}


def _error(error: BaseException) -> dict[str, object]:
    kind = type(error)
    home = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    trace = "".join(traceback.format_exception(error)).rstrip("\n")
    return {"type": home + kind.__qualname__, "message": error, "trace": trace}


def attach(record: logging.LogRecord, entry: Entry) -> logging.LogRecord:
    """A record that carries nothing but its entry, fit to cross to another thread."""
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
    """For machines: one object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_entry(record), ensure_ascii=False, separators=(",", ":"))


class HumanLines(logging.Formatter):
    """For people: local clock and colours on a terminal, UTC and plain text anywhere else.

    What was logged cannot move the cursor or pass for a line of its own: control characters are shown as
    escapes, further lines are indented.
    """

    def __init__(self, *, coloured: bool) -> None:
        super().__init__()
        self._coloured = coloured

    def format(self, record: logging.LogRecord) -> str:
        entry = _entry(record)
        level, logger = str(entry["level"]), str(entry["logger"])
        head = f"{self._clock(record, entry)} {self._paint(level, f'{level.upper():8}')}{logger}: "
        line = head + _harmless(str(entry["message"]))
        if fields := _fields(entry):
            line += " " + self._paint(None, _harmless(fields))
        return line + "".join(f"\n    {_harmless(text)}" for text in _further(entry))

    def _clock(self, record: logging.LogRecord, entry: Entry) -> str:
        if not self._coloured:
            return str(entry["at"])
        return self._paint(None, _at(record).astimezone().strftime("%H:%M:%S"))

    def _paint(self, level: str | None, text: str) -> str:
        if not self._coloured:
            return text
        return (_COLOURS.get(level, _RED) if level else _DIM) + text + _RESET


def _fields(entry: Entry) -> str:
    return " ".join(f"{name}={_short(value)}" for name, value in entry.items() if name not in _OWN)


def _short(value: object) -> str:
    if isinstance(value, str) and value and " " not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _further(entry: Entry) -> list[str]:
    error = cast("Mapping[str, object]", entry.get("error", {}))
    return [str(text) for text in (error.get("trace"), entry.get("stack")) if text]


def _harmless(text: str) -> str:
    shown = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return shown.replace("\n", "\n    ")
