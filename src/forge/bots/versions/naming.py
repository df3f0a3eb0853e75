"""What the files of a bot are called at the command line."""

from forge.bots.models import BotFile

FILES = {"soul": BotFile.SOUL, "identity": BotFile.IDENTITY, "user": BotFile.USER, "skills": BotFile.SKILLS}

_TYPED = {file: typed for typed, file in FILES.items()}


def typed(slug: str, file: BotFile) -> str:
    """`atlas soul`: how a command is told which file is meant."""
    return f"{slug} {_TYPED[file]}"
