"""What a skill wrote with `log`: so many lines, each so long; of the rest, how many there were."""

import json

from pydantic import JsonValue

from forge.kernel.text import cut, storable
from forge.skills.execution import LogLine
from forge.skills.host.hiding import Hidden
from forge.telemetry.redaction import redact

MAX_LINES = 200
MAX_CHARACTERS = 2000
LEVELS = ("debug", "info", "warn", "error")


class Lines:
    def __init__(self, hidden: Hidden) -> None:
        self._hidden = hidden
        self._kept: list[LogLine] = []
        self._left_out = 0

    def add(self, level: str, message: JsonValue) -> None:
        if len(self._kept) == MAX_LINES:
            self._left_out += 1
            return
        level = level if level in LEVELS else "info"
        text = message if isinstance(message, str) else json.dumps(message)
        self._kept.append(LogLine(level=level, message=self._fit(text)))

    def all(self) -> list[LogLine]:
        """Hidden once more: a line may be older than the secret that is in it."""
        lines = [LogLine(level=line.level, message=self._hidden(line.message)) for line in self._kept]
        if self._left_out:
            lines.append(LogLine(level="warn", message=f"… and {self._left_out:,} more lines."))
        return lines

    def _fit(self, message: str) -> str:
        """Hidden before it is cut: a part of a secret would not be recognised."""
        text = self._hidden(storable(message))
        return cut(redact(text[: 2 * MAX_CHARACTERS]), MAX_CHARACTERS)
