"""Run unittest and write a report in jest's JSON format.

Executed in the sandbox by the project's own Python (`python3 -c`), so it uses only the standard library and no recent features.
unittest itself writes no machine-readable report, and before Python 3.12 an empty suite is a success.
"""

from __future__ import annotations

import json
import sys
import traceback
import unittest
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from types import TracebackType

    Raised = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

MAX_FAILED = 200
MAX_MESSAGE = 4000
NO_TEST = 5
"""The exit code of newer unittest versions if no test ran."""
PASSED, FAILED, SKIPPED = "passed", "failed", "pending"


class Counting(unittest.TextTestResult):
    cases: ClassVar[list[dict[str, Any]]] = []
    is_running = False

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.is_running = True
        self.begin(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.is_running = False

    def addFailure(self, test: unittest.TestCase, err: Raised) -> None:
        super().addFailure(test, err)
        self.mark(test, FAILED, error_message(err))

    def addError(self, test: unittest.TestCase, err: Raised) -> None:
        super().addError(test, err)
        self.mark(test, FAILED, error_message(err))

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Raised | None) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.mark(test, FAILED, error_message(err))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.mark(test, SKIPPED)

    def addExpectedFailure(self, test: unittest.TestCase, err: Raised) -> None:
        super().addExpectedFailure(test, err)
        self.mark(test, SKIPPED)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.mark(test, FAILED, "it was expected to fail, but passed")

    def begin(self, test: unittest.TestCase) -> None:
        self.cases.append({"fullName": valid(test.id()), "status": PASSED, "failureMessages": []})

    def mark(self, test: unittest.TestCase, status: str, message: str = "") -> None:
        if not self.is_running:  # the error is of a whole class or module
            self.begin(test)
        case = self.cases[-1]
        if case["status"] != FAILED:
            case["status"] = status
        if message:
            case["failureMessages"].append(message)


def error_message(err: Raised) -> str:
    return valid("".join(traceback.format_exception_only(err[0], err[1])).strip()[-MAX_MESSAGE:])


def valid(text: str) -> str:
    """Replace characters that are not valid UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def report() -> dict[str, Any]:
    count = dict.fromkeys((PASSED, FAILED, SKIPPED), 0)
    for case in Counting.cases:
        count[case["status"]] += 1
    failed = [case for case in Counting.cases if case["status"] == FAILED]
    return {
        "numPassedTests": count[PASSED],
        "numFailedTests": count[FAILED],
        "numPendingTests": count[SKIPPED],
        "testResults": [{"assertionResults": failed[:MAX_FAILED]}],
    }


def main(file: str, arguments: list[str]) -> int:
    sys.argv = ["python3 -m unittest", *arguments]
    runner = unittest.TextTestRunner(resultclass=Counting)  # pyright: ignore[reportArgumentType]
    program = unittest.main(module=None, argv=sys.argv, testRunner=runner, exit=False)
    found = report()
    with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123
        json.dump(found, out)
    if not found["numPassedTests"] + found["numFailedTests"]:
        return NO_TEST
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
