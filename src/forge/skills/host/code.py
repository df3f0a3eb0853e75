"""The host of code that is no skill: nobody granted it anything, so all it can do is write to its log."""

from typing import Any

from pydantic import JsonValue, ValidationError

from forge.skills.execution import HostError, HostRefusal, LogLine
from forge.skills.host.arguments import Log
from forge.skills.host.hiding import Hidden
from forge.skills.host.host import LOG
from forge.skills.host.lines import Lines


class CodeHost:
    def __init__(self) -> None:
        self._lines = Lines(Hidden())

    @property
    def logs(self) -> list[LogLine]:
        return self._lines.all()

    async def call(self, op: str, args: dict[str, Any]) -> JsonValue:
        if op != LOG:
            raise HostRefusal(
                f"The code reached for {op[:100]!r}. Code has its input and its log, and nothing else: what needs more is "
                "a skill, which can be granted it."
            )
        try:
            given = Log.model_validate(args)
        except ValidationError as error:
            raise HostError("log takes a level and a message.") from error
        self._lines.add(given.level, given.message)
        return None
