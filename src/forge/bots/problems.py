"""What is wrong with a bot's file, in words and as an error."""

from forge.bots.models import FileProblem
from forge.errors import Invalid


def said(problem: FileProblem) -> str:
    """`SOUL.md, line 4: …`"""
    place = f", line {problem.line}" if problem.line is not None else ""
    return f"{problem.file.file_name}{place}: {problem.message}"


def errors_of(problems: list[FileProblem]) -> list[FileProblem]:
    """Without the warnings, with which a bot works all the same."""
    return [problem for problem in problems if not problem.is_warning]


def refusal(errors: list[FileProblem]) -> Invalid:
    """All of what is wrong, the first of it in words."""
    found = [problem.model_dump(mode="json") for problem in errors]
    return Invalid(said(errors[0]), hint=errors[0].hint, detail={"problems": found})
