"""The names of the tests that failed, from the report that the runner wrote. A report is a stranger's file: what cannot be
read has no names in it."""

from contextlib import suppress
from xml.parsers import expat

from pydantic import BaseModel, Field, ValidationError

from forge.agents.command_rules import Runner
from forge.agents.reports import MOST_BYTES, NAME, Report
from forge.audits.evidence.records import fit
from forge.errors import ForgeError
from forge.workspace.files import Files

MOST_NAMES = 50
MOST_NAME = 300


def failing_tests(report: Report, runner: Runner) -> tuple[str, ...]:
    with suppress(ForgeError), Files(report.folder) as files:
        found = files.read(NAME, limit=MOST_BYTES)
        if found.hash is not None:
            names = (
                from_jest(found.data) if runner in (Runner.JEST, Runner.VITEST) else from_junit(found.data)
            )
            return tuple(fit(name, MOST_NAME) for name in names[:MOST_NAMES])
    return ()


def from_junit(data: bytes) -> list[str]:
    reader = _Junit()
    with suppress(expat.ExpatError, ValueError):
        reader.read(data)
    return reader.names


class _Junit:
    def __init__(self) -> None:
        self.names: list[str] = []
        self._case = ""

    def read(self, data: bytes) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.Parse(data, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            parts = (attributes.get("classname", ""), attributes.get("name", ""))
            self._case = "::".join(part for part in parts if part)
        elif name in ("failure", "error") and self._case:
            self.names.append(self._case)
            self._case = ""

    def _refuse(self, *_: object) -> None:
        raise ValueError("a report declares no document type and no entities")


class _Assertion(BaseModel):
    status: str = ""
    name: str = Field(alias="fullName", default="")


class _File(BaseModel):
    results: list[_Assertion] = Field(alias="assertionResults", default=[])


class _Jest(BaseModel):
    files: list[_File] = Field(alias="testResults", default=[])


def from_jest(data: bytes) -> list[str]:
    try:
        found = _Jest.model_validate_json(data)
    except ValidationError:
        return []
    return [test.name for file in found.files for test in file.results if test.status == "failed"]
