"""Errors of bots."""

from forge.errors import Conflict


class BotBlocked(Conflict):
    """The bot cannot answer: an unaccepted soul, an invalid file, a missing folder, or a disabled bot."""

    code = "bot_blocked"


class FileChanged(Conflict):
    """The file changed since it was read; `detail` is a `FileConflict`."""

    code = "file_changed"
