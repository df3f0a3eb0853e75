"""Format problems as one line each."""

from forge.bots.files.parsed import Parsed
from forge.bots.models import FileProblem


def problem_lines(parsed: Parsed) -> list[str]:
    return [_line(problem) for problem in parsed.problems]


def _line(problem: FileProblem) -> str:
    kind = "warning" if problem.is_warning else "error"
    text = f"{problem.line}:{problem.column} {kind}: {problem.message}"
    return f"{text} {problem.hint}" if problem.hint else text
