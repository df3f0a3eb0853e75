"""What can be wrong with a bot that somebody wants to talk to."""

from forge.errors import Conflict


class BotBlocked(Conflict):
    """Its files do not allow it: a soul nobody accepted, a mistake in a file, a folder that is gone."""

    code = "bot_blocked"


class FileChanged(Conflict):
    """The file is not the one that was edited; `detail` is a `FileConflict`."""

    code = "file_changed"
