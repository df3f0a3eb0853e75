"""Save a soul in a process that kills itself on the way: `python -m tests.bots.versions.editor`."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.bots.versions.bot_on_disk import FIRST, new_content

from forge.bots.files.folders import BotFolders
from forge.bots.models import Bot, BotFile
from forge.bots.versions.service import Versions
from forge.events.log import EventLog
from forge.store.database import Store
from forge.telemetry import Metrics


class KillingFolders(BotFolders):
    """Kills the process before or after it writes a file."""

    def write(self, slug: str, file: BotFile, text: str, *, expect: str | None) -> None:
        if sys.argv[1] == "after":
            super().write(slug, file, text, expect=expect)
        os.kill(os.getpid(), signal.SIGKILL)


async def main(url: str, data_dir: str, bot: str, text: str) -> None:
    store = Store(url)
    versions = Versions(store, EventLog(store, Metrics(version="test")), KillingFolders(Path(data_dir)))
    new = new_content(text, FIRST[BotFile.SOUL], "Saved and killed")
    await versions.save(Bot.model_validate_json(bot), BotFile.SOUL, new, by="Ada")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[2:]))
