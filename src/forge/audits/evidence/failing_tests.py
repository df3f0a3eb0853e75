"""Read the names and messages of failing tests from a runner's report. Reports are untrusted; unreadable ones are empty."""

from contextlib import suppress
from dataclasses import dataclass
from xml.parsers import expat

from pydantic import BaseModel, Field, ValidationError

from forge.agents.commands.command_rules import Runner
from forge.agents.commands.reports import MAX_BYTES, NAME, Report
from forge.audits.evidence.records import fit, shorten
from forge.errors import ForgeError
from forge.workspace.filesystem.files import Files

MAX_NAMES = 50
MAX_NAME = 300
MAX_MESSAGE = 600
_MAX_COLLECTED = 100_000
_EMPTY_MESSAGES = ("", "collection failure")
"""Messages of pytest for a test file that cannot be imported; the reason is in the text."""
_EXCEPTION_PREFIX = "E   "
"""The prefix that pytest puts before the lines of an exception."""


@dataclass(frozen=True, slots=True)
class FailingTest:
    name: str
    message: str = ""


def failing_tests(report: Report, runner: Runner) -> tuple[FailingTest, ...]:
    with suppress(ForgeError), Files(report.folder) as files:
        found = files.read(NAME, limit=MAX_BYTES)
        if found.hash is not None:
            is_jest = runner in (Runner.JEST, Runner.VITEST)
            tests = from_jest(found.data) if is_jest else from_junit(found.data)
            return tuple(
                FailingTest(fit(test.name, MAX_NAME), shorten(test.message, MAX_MESSAGE))
                for test in tests[:MAX_NAMES]
            )
    return ()


def from_junit(data: bytes) -> list[FailingTest]:
    reader = _Junit()
    with suppress(expat.ExpatError, ValueError):
        reader.read(data)
    return reader.tests


class _Junit:
    def __init__(self) -> None:
        self.tests: list[FailingTest] = []
        self._case = ""
        self._message = ""
        self._text: list[str] | None = None
        """The text of the current failure."""
        self._collected = 0

    def read(self, data: bytes) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._append_text
        parser.StartDoctypeDeclHandler = self._reject
        parser.EntityDeclHandler = self._reject
        parser.Parse(data, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            parts = (attributes.get("classname", ""), attributes.get("name", ""))
            self._case = "::".join(part for part in parts if part)
        elif name in ("failure", "error") and self._case:
            self._message = attributes.get("message", "").strip()
            self.tests.append(FailingTest(self._case, self._message))
            self._text, self._collected = [], 0
            self._case = ""

    def _append_text(self, text: str) -> None:
        if self._text is not None and self._collected < _MAX_COLLECTED:
            self._text.append(text)
            self._collected += len(text)

    def _end(self, name: str) -> None:
        if name in ("failure", "error") and self._text is not None:
            if self._message in _EMPTY_MESSAGES:
                self.tests[-1] = FailingTest(self.tests[-1].name, _exception_lines("".join(self._text)))
            self._text = None

    def _reject(self, *_: object) -> None:
        raise ValueError("document types and entities are not allowed in a report")


def _exception_lines(text: str) -> str:
    lines = text.strip().splitlines()
    raised = [
        line.removeprefix(_EXCEPTION_PREFIX).rstrip() for line in lines if line.startswith(_EXCEPTION_PREFIX)
    ]
    return "\n".join(raised or lines)


class _Assertion(BaseModel):
    status: str = ""
    name: str = Field(alias="fullName", default="")
    messages: list[str] = Field(alias="failureMessages", default=[])


class _File(BaseModel):
    results: list[_Assertion] = Field(alias="assertionResults", default=[])


class _Jest(BaseModel):
    files: list[_File] = Field(alias="testResults", default=[])


def from_jest(data: bytes) -> list[FailingTest]:
    try:
        found = _Jest.model_validate_json(data)
    except ValidationError:
        return []
    return [
        FailingTest(test.name, "\n".join(test.messages).strip())
        for file in found.files
        for test in file.results
        if test.status == "failed"
    ]
