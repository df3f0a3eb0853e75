"""How a name is written: by a pattern for machines, and in words for whoever wrote it otherwise."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True)
class Spelling:
    """Stands in an `Annotated[str, …]`."""

    pattern: str
    rule: str
    """What it must be like: follows the name of the field."""
    anywhere: bool = False
    """A part of the text is enough."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(core) | {"pattern": self.pattern}

    def _check(self, text: str) -> str:
        match = re.search if self.anywhere else re.fullmatch
        if match(self.pattern, text) is None:
            raise ValueError(self.rule)
        return text
