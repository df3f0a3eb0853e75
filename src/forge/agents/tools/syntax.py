"""Check the syntax of Python, JSON and TOML in a short-lived process that parses and never executes."""

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ValidationError

WORKER = Path(__file__).with_name("syntax_worker.py")
TIMEOUT_S = 10.0
MAX_BYTES = 2_000_000
MAX_MESSAGE = 300


class Language(StrEnum):
    PYTHON = "python"
    JSON = "json"
    TOML = "toml"


_SUFFIXES = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".json": Language.JSON,
    ".toml": Language.TOML,
}


class _Answer(BaseModel):
    line: int | None
    column: int | None
    message: str | None


@dataclass(frozen=True)
class Syntax:
    is_known: bool
    """False if it cannot be determined: unknown language, too large or too deeply nested."""
    problem: str | None = None

    @property
    def is_broken(self) -> bool:
        return self.problem is not None


UNKNOWN = Syntax(is_known=False)


def language_of(path: str) -> Language | None:
    return _SUFFIXES.get(PurePosixPath(path).suffix.lower())


async def check(path: str, data: bytes) -> Syntax:
    language = language_of(path)
    if language is None or len(data) > MAX_BYTES:
        return UNKNOWN
    try:
        answer = _Answer.model_validate_json(await _ask(language, data))
    except ValidationError:
        return UNKNOWN
    return Syntax(is_known=True, problem=_in_words(answer))


def _in_words(answer: _Answer) -> str | None:
    if answer.message is None:
        return None
    column = f", column {answer.column}" if answer.column else ""
    where = f"line {answer.line}{column}: " if answer.line else ""
    return where + answer.message[:MAX_MESSAGE]


async def _ask(language: Language, data: bytes) -> bytes:
    """Ask the worker; empty if it timed out or died."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(WORKER), language.value),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
        cwd="/",
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            answer, _ = await process.communicate(data)
            return answer
    except TimeoutError:
        return b""
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
