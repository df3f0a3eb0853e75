"""Validate and clean up untrusted text."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True)
class PatternRule:
    """A pattern with a readable rule, for `Annotated[str, …]`."""

    pattern: str
    rule: str
    """The error message, which follows the name of the field."""
    anywhere: bool = False
    """Whether matching a part of the text is enough."""

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


def _without_nul(text: str) -> str:
    """Reject NUL, which not every file or database can store."""
    if "\x00" in text:
        raise ValueError("must not contain a NUL character")
    return text


NO_NUL = AfterValidator(_without_nul)
"""Must come after the other rules of a string: otherwise pydantic's messages say items instead of characters."""
NOT_BLANK = PatternRule(r"\S", "must not be blank", anywhere=True)


def repair_surrogates(text: str) -> str:
    """Join surrogate pairs and replace unpaired surrogates, which cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def storable(text: str) -> str:
    """Replace what a database cannot store with the replacement character."""
    return repair_surrogates(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def truncate(text: str, maximum: int) -> str:
    """Truncate to `maximum` characters, with an ellipsis."""
    return text if len(text) <= maximum else f"{text[: maximum - 1]}…"


def truncate_line(text: str, maximum: int) -> str:
    """Truncate to `maximum` characters on one line, with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= maximum else f"{line[: maximum - 1].rstrip()}…"
