"""Find the problems of a file, and describe them."""

from forge.bots.files.identity import parse_identity
from forge.bots.files.skills_toml import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, FileProblem
from forge.errors import Invalid


def describe_problem(problem: FileProblem) -> str:
    """Format a problem with its file and line: `SOUL.md, line 4: …`."""
    position = f", line {problem.line}" if problem.line is not None else ""
    return f"{problem.file.file_name}{position}: {problem.message}"


def errors_of(problems: list[FileProblem]) -> list[FileProblem]:
    """Return the problems without warnings."""
    return [problem for problem in problems if not problem.is_warning]


def invalid_file(errors: list[FileProblem]) -> Invalid:
    """Build the error for an invalid file: the first problem as message, all of them as detail."""
    found = [problem.model_dump(mode="json") for problem in errors]
    return Invalid(describe_problem(errors[0]), hint=errors[0].hint, detail={"problems": found})


def find_problems(file: BotFile, text: str) -> list[FileProblem]:
    match file:
        case BotFile.SOUL:
            return parse_soul(text).problems
        case BotFile.IDENTITY:
            return parse_identity(text).problems
        case BotFile.USER:
            return parse_user(text).problems
        case BotFile.SKILLS:
            return parse_skills(text).problems
