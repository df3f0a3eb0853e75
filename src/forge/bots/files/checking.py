"""All that is wrong with a file of a bot, whichever it is."""

from forge.bots.files.identity import parse_identity
from forge.bots.files.skills import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, FileProblem


def check(file: BotFile, text: str) -> list[FileProblem]:
    match file:
        case BotFile.SOUL:
            return parse_soul(text).problems
        case BotFile.IDENTITY:
            return parse_identity(text).problems
        case BotFile.USER:
            return parse_user(text).problems
        case BotFile.SKILLS:
            return parse_skills(text).problems
