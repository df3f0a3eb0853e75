"""Request JSON from a bot and validate its answer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import RegexOptions, ValidationError, Validator, validator_for
from pydantic import JsonValue

from forge.errors import Invalid
from forge.kernel.text import truncate

MAX_FAULTS = 8
MAX_FAULT_LENGTH = 300
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)

WANTED = """\
{prompt}

Give your answer as one JSON value that matches this JSON Schema, and write nothing else: no introduction, no explanation, \
no comment. A program reads it. Fill in every required property; where you do not know a value, use what the schema \
allows for that, and never invent one.

```json
{schema}
```\
"""
REPAIR = """\
A program could not use your answer:

{faults}

Give the whole answer again, corrected, as one JSON value that matches the schema above. Keep what was right, and write \
nothing else.\
"""


@dataclass(frozen=True)
class ParsedAnswer:
    """The JSON value of an answer, or what is wrong with it."""

    value: JsonValue = None
    faults: tuple[str, ...] = ()


class OutputSchema:
    def __init__(self, schema: dict[str, JsonValue]) -> None:
        """Compile the schema. Raises Invalid. Remote references are not fetched, and patterns are matched in linear time."""
        self._schema = schema
        try:
            self._validator: Validator = validator_for(schema, offline=True, pattern_options=RegexOptions())
        except (ValidationError, ValueError) as error:
            raise Invalid(f"output_schema is not a valid JSON Schema: {_first_line(error)}") from error

    def prompt(self, prompt: str) -> str:
        schema = json.dumps(self._schema, ensure_ascii=False, indent=2)
        return WANTED.format(prompt=prompt, schema=schema)

    def read(self, answer: str) -> ParsedAnswer:
        """Return the JSON of an answer. A fenced code block and text around it are accepted."""
        found: ParsedAnswer | None = None
        for text in _candidates(answer):
            try:
                value: JsonValue = json.loads(text, parse_constant=_refuse)
            except ValueError as error:
                found = found or ParsedAnswer(faults=(f"It is not JSON: {_first_line(error)}",))
                continue
            if not (faults := self._faults(value)):
                return ParsedAnswer(value)
            found = ParsedAnswer(faults=faults)
        return found or ParsedAnswer(faults=("It is empty.",))

    def _faults(self, value: JsonValue) -> tuple[str, ...]:
        errors = [_describe(error) for error in self._validator.iter_errors(value)]
        return tuple(errors[:MAX_FAULTS])


def repair(faults: Sequence[str]) -> str:
    return REPAIR.format(faults="\n".join(f"- {fault}" for fault in faults))


def _candidates(answer: str) -> list[str]:
    """Return the whole answer, then its fenced blocks, last one first."""
    blocks = [block.strip() for block in _FENCE.findall(answer)]
    return [text for text in (answer.strip(), *reversed(blocks)) if text]


def _describe(error: ValidationError) -> str:
    where = "/".join(str(part) for part in error.instance_path)
    return truncate(f"{where}: {error.message}" if where else error.message, MAX_FAULT_LENGTH)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:MAX_FAULT_LENGTH]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number in JSON")
